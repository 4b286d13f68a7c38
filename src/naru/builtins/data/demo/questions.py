"""Forty questions that people ask of such data, each with SQL that answers it: for tests, examples and prompts."""

from __future__ import annotations

from typing import NamedTuple


class Question(NamedTuple):
    """A question and one right way to answer it."""

    text: str
    sql: str


QUESTIONS = (
    Question("전체 로트는 몇 개인가요?", "SELECT count(*) AS lots FROM bga_lot"),
    Question(
        "라인별 평균 수율을 알려줘",
        "SELECT line_no, round(avg(yield_pct), 2) AS yield FROM bga_lot GROUP BY 1 ORDER BY 1",
    ),
    Question(
        "수율이 가장 낮은 로트 5개는?",
        "SELECT lot_id, yield_pct FROM bga_lot ORDER BY yield_pct, lot_id LIMIT 5",
    ),
    Question(
        "고객사별 양품 출하 수량 합계는?",
        "SELECT customer_name, sum(qty_out) AS shipped FROM bga_lot GROUP BY 1 ORDER BY 2 DESC",
    ),
    Question(
        "야간조 로트의 평균 수율은?",
        "SELECT round(avg(yield_pct), 2) AS yield FROM bga_lot WHERE shift_cd = 'N'",
    ),
    Question(
        "아직 공정이 끝나지 않은 로트는?",
        "SELECT lot_id, start_dt FROM bga_lot WHERE end_dt IS NULL ORDER BY start_dt",
    ),
    Question(
        "보이드 비율이 25%를 넘는 X-ray 검사는 몇 건이야?",
        "SELECT count(*) AS failed FROM bga_xray WHERE void_pct > 25",
    ),
    Question(
        "불량 유형별 건수를 많은 순으로 보여줘",
        "SELECT defect_code, count(*) AS found FROM bga_defect GROUP BY 1 ORDER BY 2 DESC, 1",
    ),
    Question("브리지가 발생한 로트 목록", "SELECT DISTINCT lot_id FROM bga_xray WHERE bridge_yn ORDER BY 1"),
    Question(
        "헤드 인 필로우 불량이 가장 많은 라인은?",
        "SELECT l.line_no, count(*) AS hip FROM bga_xray x JOIN bga_lot l USING (lot_id) WHERE x.hip_yn "
        "GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
    ),
    Question("휨이 가장 큰 제품은?", "SELECT product_code, warpage_um FROM bga_pkg ORDER BY warpage_um DESC LIMIT 1"),
    Question("산소 농도가 1000ppm을 넘은 로트 수", "SELECT count(*) AS lots FROM bga_reflow WHERE o2_ppm > 1000"),
    Question(
        "예방 정비를 한 지 가장 오래된 설비는?",
        "SELECT equip_id, last_pm_date FROM bga_equip ORDER BY last_pm_date LIMIT 1",
    ),
    Question("제품별 단가를 보여줘", "SELECT product_code, unit_price_krw FROM bga_cost ORDER BY 1"),
    Question("재작업이 두 번인 불량은 몇 건?", "SELECT count(*) AS reworked FROM bga_defect WHERE rework_cnt = 2"),
    Question(
        "8월에 투입된 로트 수",
        "SELECT count(*) AS lots FROM bga_lot WHERE start_dt >= '2026-08-01 00:00+09' AND start_dt < "
        "'2026-09-01 00:00+09'",
    ),
    Question("부서별 직원 수", "SELECT dept, count(*) AS people FROM employees GROUP BY 1 ORDER BY 1"),
    Question(
        "연봉이 가장 높은 직원 3명",
        "SELECT emp_name, salary FROM employees ORDER BY salary DESC, emp_id LIMIT 3",
    ),
    Question("품질 부서의 평균 연봉은?", "SELECT round(avg(salary)) AS salary FROM employees WHERE dept = '품질'"),
    Question("병가는 모두 며칠이야?", "SELECT sum(days) AS days FROM vacations WHERE vac_type = '병가'"),
    Question("극비 문서 제목", "SELECT title FROM documents WHERE sec_level = '극비' ORDER BY doc_id"),
    Question("How many employees are there?", "SELECT count(*) AS people FROM employees"),
    Question(
        "What is the average yield per customer?",
        "SELECT customer_name, round(avg(yield_pct), 2) AS yield FROM bga_lot GROUP BY 1 ORDER BY 1",
    ),
    Question(
        "Which lot has the highest yield?",
        "SELECT lot_id, yield_pct FROM bga_lot ORDER BY yield_pct DESC, lot_id LIMIT 1",
    ),
    Question(
        "What is the average ball shear strength per alloy?",
        "SELECT alloy, round(avg(shear_gf), 1) AS shear FROM bga_ball GROUP BY 1 ORDER BY 1",
    ),
    Question("How many balls were found missing in total?", "SELECT sum(missing_cnt) AS missing FROM bga_ball"),
    Question(
        "Which lots had a ball pull force below 525 gf?",
        "SELECT DISTINCT lot_id FROM bga_ball WHERE pull_gf < 525 ORDER BY 1",
    ),
    Question("What is the largest coplanarity measured?", "SELECT max(coplanarity_um) AS coplanarity FROM bga_ball"),
    Question(
        "What is the mean ball diameter for each pitch?",
        "SELECT pitch_um, round(avg(diameter_um)::numeric, 1) AS diameter FROM bga_ball GROUP BY 1 ORDER BY 1",
    ),
    Question(
        "What is the maximum peak temperature of the reflow oven?",
        "SELECT max(peak_temp_c) AS peak FROM bga_reflow",
    ),
    Question(
        "How many lots were above liquidus for more than 80 seconds?",
        "SELECT count(*) AS lots FROM bga_reflow WHERE tal_sec > 80",
    ),
    Question(
        "Which machine has the shortest mean time between failures?",
        "SELECT equip_id, mtbf_hr FROM bga_equip ORDER BY mtbf_hr LIMIT 1",
    ),
    Question("How many packages have MSL 3?", "SELECT count(*) AS packages FROM bga_pkg WHERE msl_level = 'MSL 3'"),
    Question(
        "What is the average number of thermal cycles to failure?",
        "SELECT round(avg(tc_cycles), 1) AS cycles FROM bga_rel",
    ),
    Question(
        "What did scrapped units cost in total?",
        "SELECT round(sum((l.qty_in - l.qty_out) * c.scrap_cost)) AS scrap FROM bga_lot l JOIN bga_cost c "
        "USING (product_code)",
    ),
    Question(
        "Who has been employed the longest?",
        "SELECT emp_name, hire_date FROM employees ORDER BY hire_date LIMIT 1",
    ),
    Question(
        "Who manages the most people?",
        "SELECT m.emp_name, count(*) AS people FROM employees e JOIN employees m ON m.emp_id = e.manager_id"
        " GROUP BY m.emp_id, m.emp_name ORDER BY 2 DESC, m.emp_id LIMIT 1",
    ),
    Question(
        "How many vacation requests did each person approve?",
        "SELECT e.emp_name, count(*) AS approved FROM vacations v JOIN employees e ON e.emp_id = "
        "v.approved_by GROUP BY e.emp_id, e.emp_name ORDER BY 2 DESC, e.emp_id",
    ),
    Question(
        "Which operator found the most defects?",
        "SELECT e.emp_name, count(*) AS found FROM bga_defect d JOIN employees e ON e.emp_id = "
        "d.operator_id GROUP BY e.emp_id, e.emp_name ORDER BY 2 DESC, e.emp_id LIMIT 1",
    ),
    Question(
        "Which document was modified last?",
        "SELECT title, updated_at FROM documents ORDER BY updated_at DESC LIMIT 1",
    ),
)
