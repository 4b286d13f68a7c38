"""한국어로만 설명된 쇼핑몰: 도구 열 개."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

mcp = MCPServer("나루마켓")

PRODUCTS = {
    "P1001": ("무선 키보드", 45000, 12), "P1002": ("게이밍 마우스", 39000, 0), "P1003": ("27인치 모니터", 289000, 4),
    "P1004": ("USB 허브", 18000, 57), "P1005": ("노트북 거치대", 26000, 8),
}  # fmt: skip
ORDERS = {
    "20261101-33": ("김민지", "P1001", 2, "배송중"), "20261103-07": ("이도윤", "P1003", 1, "결제완료"),
    "20261105-91": ("김민지", "P1005", 1, "배송완료"),
}  # fmt: skip
TRACKING = {"20261101-33": ("한진택배", "대전 허브 도착"), "20261105-91": ("우체국", "배달 완료")}


@mcp.tool()
def product_search(keyword: Annotated[str, Field(description="상품 이름에 들어 있는 낱말")]) -> list[dict]:
    """상품을 이름으로 검색합니다. 상품번호와 가격을 돌려줍니다."""
    return [
        {"상품번호": pid, "이름": name, "가격": price} for pid, (name, price, _) in PRODUCTS.items() if keyword in name
    ]


@mcp.tool()
def stock_check(product_id: Annotated[str, Field(description="상품번호 (P로 시작하는 네 자리)")]) -> str:
    """상품의 현재 재고 수량을 확인합니다."""
    if product_id not in PRODUCTS:
        raise ToolError(f"상품 {product_id}을(를) 찾을 수 없습니다")
    name, _, stock = PRODUCTS[product_id]
    return f"{name} 재고: {stock}개"


@mcp.tool()
def order_detail(order_no: Annotated[str, Field(description="주문번호")]) -> dict:
    """주문 한 건의 상세 내역(주문자, 상품, 수량, 상태)을 조회합니다."""
    if order_no not in ORDERS:
        raise ToolError(f"주문번호 {order_no}은(는) 없는 주문입니다")
    who, pid, count, state = ORDERS[order_no]
    return {"주문자": who, "상품번호": pid, "상품명": PRODUCTS[pid][0], "수량": count, "상태": state}


@mcp.tool()
def orders_of_customer(customer: Annotated[str, Field(description="주문자 이름")]) -> list[dict]:
    """고객 이름으로 주문 목록을 조회합니다."""
    return [{"주문번호": no, "상태": row[3]} for no, row in ORDERS.items() if row[0] == customer]


@mcp.tool()
def track_delivery(order_no: Annotated[str, Field(description="주문번호")]) -> str:
    """배송 위치를 추적합니다. 택배사와 현재 위치를 알려줍니다."""
    if order_no not in TRACKING:
        raise ToolError(f"{order_no}: 아직 발송되지 않았거나 없는 주문입니다")
    company, place = TRACKING[order_no]
    return f"{company}, {place}"


@mcp.tool()
def coupon_list() -> list[str]:
    """지금 쓸 수 있는 쿠폰을 모두 보여줍니다."""
    return ["WELCOME10 (10% 할인)", "FREESHIP (무료배송)", "WINTER5000 (5,000원 할인)"]


@mcp.tool()
def apply_coupon(
    price: Annotated[int, Field(description="할인 전 가격(원)")], coupon: Annotated[str, Field(description="쿠폰 코드")]
) -> str:
    """가격에 쿠폰을 적용했을 때의 금액을 계산합니다."""
    cut = {"WELCOME10": price // 10, "WINTER5000": 5000, "FREESHIP": 0}
    if coupon not in cut:
        raise ToolError(f"쿠폰 {coupon}은(는) 사용할 수 없습니다")
    return f"{price - cut[coupon]}원"


@mcp.tool()
def request_refund(order_no: str, reason: Literal["단순변심", "불량", "오배송"]) -> str:
    """환불을 신청합니다."""
    return f"{order_no} 환불 신청이 접수되었습니다 ({reason})"


@mcp.tool()
def reviews(product_id: Annotated[str, Field(description="상품번호")], limit: int = 3) -> list[str]:
    """상품 후기를 보여줍니다."""
    return ["★5 조용하고 좋아요", "★3 배송이 느렸어요"][:limit] if product_id == "P1001" else []


@mcp.tool()
def store_hours() -> str:
    """고객센터 운영 시간을 알려줍니다."""
    return "평일 10:00~18:00, 점심 12:30~13:30, 주말 휴무"


if __name__ == "__main__":
    mcp.run()
