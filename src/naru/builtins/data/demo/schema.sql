-- Made by arithmetic, so the same on every machine. Comments come from columns.py, the reading role from reader.py.
CREATE TABLE employees (
  emp_id int PRIMARY KEY, emp_name text NOT NULL, dept text NOT NULL, position text NOT NULL, hire_date date NOT NULL,
  salary numeric(12, 0) NOT NULL, email text NOT NULL, manager_id int REFERENCES employees, birth_date date,
  office_loc text NOT NULL);
INSERT INTO employees
SELECT i,
  (ARRAY['김','이','박','최','정','강','조','윤','장','임'])[1 + i % 10]
    || (ARRAY['민준','서연','도윤','하은','지훈','수아','예준','지민','현우','유진','태오','나래'])[1 + i * 7 % 12],
  (ARRAY['개발','생산','품질','인사','영업'])[1 + i % 5],
  CASE WHEN i <= 5 THEN '부장' ELSE (ARRAY['사원','대리','과장','사원'])[1 + i % 4] END,
  date '2012-03-02' + i * 83,
  36000000 + (i * 7919 % 60) * 900000 + CASE WHEN i <= 5 THEN 45000000 ELSE 0 END,
  'emp' || lpad(i::text, 3, '0') || '@example.co.kr',
  CASE WHEN i > 5 THEN 1 + (i - 1) % 5 END,
  date '1968-01-15' + i * 251,
  (ARRAY['수원','이천','천안','서울'])[1 + i % 4]
FROM generate_series(1, 60) i;

CREATE TABLE vacations (
  vac_id int PRIMARY KEY, emp_id int NOT NULL REFERENCES employees, vac_type text NOT NULL, start_date date NOT NULL,
  days numeric(4, 1) NOT NULL, days_left numeric(4, 1) NOT NULL, approved_by int REFERENCES employees);
INSERT INTO vacations
SELECT i, 1 + (i * 17) % 60, (ARRAY['연차','연차','연차','병가','경조사'])[1 + i % 5], date '2026-01-05' + i * 2,
  1 + (i % 4) * 0.5, 15 - (i * 3 % 27) * 0.5, 1 + i % 5
FROM generate_series(1, 150) i;

CREATE TABLE documents (
  doc_id int PRIMARY KEY, title text NOT NULL, author int NOT NULL REFERENCES employees, body text NOT NULL,
  tags text[] NOT NULL, sec_level text NOT NULL, file_size bigint NOT NULL, updated_at timestamptz NOT NULL);
INSERT INTO documents
SELECT i, t.title, 1 + i * 11 % 60, t.body, t.tags, (ARRAY['일반','대외비','극비'])[1 + i % 3], 20480 + i * 104729 % 900000,
  timestamptz '2026-02-01 09:00+09' + i * interval '5 days 3 hours'
FROM (VALUES
  (1, 'Reflow profile guide', 'Peak temperature 235 to 250 C, time above liquidus 45 to 90 s.', ARRAY['reflow', 'process']),
  (2, '리플로우 작업 표준', '피크 온도 235~250도, 액상선 이상 시간 45~90초를 지킨다.', ARRAY['리플로우', '표준']),
  (3, 'Ball shear test procedure', 'Shear 20 balls per lot at 100 um/s; below 400 gf stop the lot.', ARRAY['shear', 'test']),
  (4, 'X-ray 검사 기준서', '보이드 면적 비율이 25%를 넘으면 불합격이다.', ARRAY['X-ray', '보이드']),
  (5, 'Moisture handling (MSL)', 'Bake packages of MSL 3 after 168 hours on the floor.', ARRAY['MSL', 'bake']),
  (6, '보안 지침', '극비 문서는 사내망 밖으로 보내지 않는다.', ARRAY['보안']),
  (7, 'Vacation policy', 'Fifteen days a year; ask seven days ahead.', ARRAY['vacation', 'hr']),
  (8, '휴가 규정', '연차는 1년에 15일이며 7일 전에 신청한다.', ARRAY['휴가', '인사']),
  (9, '불량 분석 보고서 3분기', '헤드 인 필로우 불량이 4라인에서 늘었다.', ARRAY['불량', 'HIP']),
  (10, 'Quarterly yield report', 'Line 2 reached 98.1 percent in the third quarter.', ARRAY['yield', 'report'])
) t(i, title, body, tags);

CREATE TABLE bga_pkg (
  product_code text PRIMARY KEY, body_size text NOT NULL, thickness_mm numeric(4, 2) NOT NULL,
  warpage_um numeric(6, 1) NOT NULL, substrate_layers int NOT NULL, msl_level text NOT NULL);
INSERT INTO bga_pkg
SELECT 'BGA-' || 100 + i, (ARRAY['10x10','14x14','17x17','23x23'])[1 + i % 4], 0.8 + i * 0.07, 35 + i * 13 % 61,
  2 + 2 * (i % 4), (ARRAY['MSL 1','MSL 2','MSL 3'])[1 + i % 3]
FROM generate_series(1, 8) i;

CREATE TABLE bga_cost (
  product_code text PRIMARY KEY REFERENCES bga_pkg, unit_price_krw numeric(10, 0) NOT NULL, scrap_cost numeric(12, 2) NOT NULL);
INSERT INTO bga_cost SELECT product_code, 1200 + row_number() OVER (ORDER BY product_code) * 350,
  900.5 + row_number() OVER (ORDER BY product_code) * 275.25 FROM bga_pkg;

CREATE TABLE bga_equip (
  equip_id text PRIMARY KEY, equip_name text NOT NULL, line_no int NOT NULL, last_pm_date date NOT NULL,
  mtbf_hr numeric(8, 1) NOT NULL);
INSERT INTO bga_equip
SELECT 'EQ' || lpad(i::text, 2, '0'), (ARRAY['리플로우 오븐','볼 마운터','X-ray 검사기'])[1 + i % 3], 1 + i % 5,
  date '2026-06-01' + i * 11, 310 + i * 37.5
FROM generate_series(1, 12) i;

CREATE TABLE bga_lot (
  lot_id text PRIMARY KEY, product_code text NOT NULL REFERENCES bga_pkg, customer_name text NOT NULL,
  start_dt timestamptz NOT NULL, end_dt timestamptz, qty_in int NOT NULL, qty_out int NOT NULL,
  yield_pct numeric(6, 3) NOT NULL, line_no int NOT NULL, shift_cd char(1) NOT NULL);
INSERT INTO bga_lot
SELECT 'LOT' || lpad(i::text, 4, '0'), 'BGA-' || 101 + i % 8, (ARRAY['삼성전자','SK하이닉스','Amkor','ASE'])[1 + i % 4],
  timestamptz '2026-07-01 06:00+09' + i * interval '7 hours',
  CASE WHEN i <= 392 THEN timestamptz '2026-07-01 12:30+09' + i * interval '7 hours' + (i % 5) * interval '40 minutes' END,
  1000 + i % 3 * 200, 1000 + i % 3 * 200 - lost, round((1000 + i % 3 * 200 - lost) * 100.0 / (1000 + i % 3 * 200), 3),
  1 + i % 5, (ARRAY['D','N'])[1 + i % 2]
FROM (SELECT i, (i * 37 % 53) + CASE WHEN i % 5 = 3 THEN 18 ELSE 0 END AS lost FROM generate_series(1, 400) i) made;

CREATE TABLE bga_ball (
  ball_id int PRIMARY KEY, lot_id text NOT NULL REFERENCES bga_lot, pitch_um int NOT NULL, diameter_um double precision NOT NULL,
  height_um double precision NOT NULL, coplanarity_um real NOT NULL, shear_gf numeric(7, 2) NOT NULL,
  pull_gf numeric(7, 2) NOT NULL, alloy text NOT NULL, missing_cnt int NOT NULL);
INSERT INTO bga_ball
SELECT i, 'LOT' || lpad((1 + i % 400)::text, 4, '0'), 400 + i % 4 * 100, 240 + i * 7 % 60 + 0.5, 180 + i * 11 % 45,
  12 + i * 13 % 55, 380 + i * 29 % 340 + 0.25, 520 + i * 31 % 400, (ARRAY['SAC305','SAC405','SnPb'])[1 + i % 3],
  CASE WHEN i % 97 = 0 THEN 1 + i % 3 ELSE 0 END
FROM generate_series(1, 1200) i;

CREATE TABLE bga_xray (
  xray_id int PRIMARY KEY, lot_id text NOT NULL REFERENCES bga_lot, inspected_at timestamptz NOT NULL,
  void_pct numeric(5, 2) NOT NULL, bridge_yn boolean NOT NULL, hip_yn boolean NOT NULL);
INSERT INTO bga_xray
SELECT i, 'LOT' || lpad((1 + i % 400)::text, 4, '0'), timestamptz '2026-07-01 13:00+09' + i * interval '3 hours',
  (i * 17 % 290) / 10.0, i % 83 = 0, i % 41 = 0 OR i % 5 = 3 AND i % 11 = 0
FROM generate_series(1, 800) i;

CREATE TABLE bga_reflow (
  lot_id text PRIMARY KEY REFERENCES bga_lot, equip_id text NOT NULL REFERENCES bga_equip, peak_temp_c numeric(5, 1) NOT NULL,
  tal_sec int NOT NULL, ramp_rate numeric(4, 2) NOT NULL, o2_ppm int NOT NULL, belt_speed numeric(5, 1) NOT NULL);
INSERT INTO bga_reflow
SELECT lot_id, 'EQ' || lpad((3 * (1 + i % 4))::text, 2, '0'), 234 + i * 7 % 19 + 0.5, 42 + i * 5 % 50, 1.2 + i % 9 * 0.15,
  300 + i * 61 % 900, 70 + i % 7 * 3.5
FROM (SELECT lot_id, row_number() OVER (ORDER BY lot_id) AS i FROM bga_lot) numbered;

CREATE TABLE bga_defect (
  defect_id int PRIMARY KEY, lot_id text NOT NULL REFERENCES bga_lot, defect_code text NOT NULL,
  operator_id int NOT NULL REFERENCES employees, detected_at timestamptz NOT NULL, rework_cnt int NOT NULL, image_path text);
INSERT INTO bga_defect
SELECT i, 'LOT' || lpad((1 + i * 3 % 400)::text, 4, '0'),
  (ARRAY['VOID','BRIDGE','HIP','MISSING','CRACK','VOID','HIP'])[1 + i % 7], 1 + i * 13 % 60,
  timestamptz '2026-07-01 15:00+09' + i * interval '6 hours', i % 3, '/aoi/2026/' || lpad(i::text, 5, '0') || '.png'
FROM generate_series(1, 460) i;

CREATE TABLE bga_rel (
  lot_id text PRIMARY KEY REFERENCES bga_lot, tc_cycles int NOT NULL, drop_cnt int NOT NULL, hast_hr int NOT NULL);
INSERT INTO bga_rel
SELECT 'LOT' || lpad((i * 5)::text, 4, '0'), 800 + i * 71 % 900, 60 + i * 19 % 180, 96 + i % 5 * 24
FROM generate_series(1, 80) i;

ANALYZE;
