"""Recipes and pantry: arrays, optional limits, enums, amounts to scale."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

mcp = MCPServer("recipes")

RECIPES = {
    "r-lentil": {"recipe_id": "r-lentil", "title": "Lentil soup", "minutes": 40, "servings": 4, "diet": "vegan", "ingredients": {"lentils": "250 g", "carrot": "2", "onion": "1"}},
    "r-shakshuka": {"recipe_id": "r-shakshuka", "title": "Shakshuka", "minutes": 25, "servings": 2, "diet": "vegetarian", "ingredients": {"eggs": "4", "tomato": "400 g", "onion": "1"}},
    "r-bulgogi": {"recipe_id": "r-bulgogi", "title": "Bulgogi", "minutes": 35, "servings": 3, "diet": "none", "ingredients": {"beef": "500 g", "pear": "1", "soy sauce": "60 ml"}},
}  # fmt: skip
PANTRY = {"lentils": "1 kg", "onion": "6", "eggs": "10", "rice": "3 kg"}
CALORIES = {"lentils": 116, "eggs": 155, "beef": 250, "rice": 130}


@mcp.tool()
def recipes_by_ingredients(
    ingredients: Annotated[list[str], Field(description="Ingredients that the recipe must contain")],
    max_minutes: Annotated[int | None, Field(description="Longest cooking time")] = None,
) -> list[dict]:
    """Find recipes that use all the given ingredients."""
    return [
        {"recipe_id": one["recipe_id"], "title": one["title"]}
        for one in RECIPES.values()
        if all(item.lower() in one["ingredients"] for item in ingredients)
        and (max_minutes is None or one["minutes"] <= max_minutes)
    ]


@mcp.tool()
def recipes_by_diet(diet: Literal["vegan", "vegetarian", "gluten-free"]) -> list[dict]:
    """Recipes suitable for a diet."""
    return [{"recipe_id": one["recipe_id"], "title": one["title"]} for one in RECIPES.values() if one["diet"] == diet]


@mcp.tool()
def find_recipe(title: str) -> list[dict]:
    """Find a recipe by its title."""
    return [
        {"recipe_id": one["recipe_id"], "title": one["title"]}
        for one in RECIPES.values()
        if title.lower() in one["title"].lower()
    ]


@mcp.tool()
def recipe_details(recipe_id: str) -> dict:
    """Cooking time in minutes, servings and ingredients of a recipe."""
    if recipe_id not in RECIPES:
        raise ToolError(f"no recipe with id {recipe_id}")
    return RECIPES[recipe_id]


@mcp.tool()
def calories(food: Annotated[str, Field(description="food name in English")]) -> str:
    """Calories per 100 g of a food."""
    if food.lower() not in CALORIES:
        raise ToolError(f"no data for {food}")
    return f"{food}: {CALORIES[food.lower()]} kcal per 100 g"


@mcp.tool()
def pantry() -> dict[str, str]:
    """What is in the pantry, with amounts."""
    return PANTRY


@mcp.tool()
def add_to_shopping_list(items: list[str]) -> str:
    """Put items on the shopping list."""
    return f"On the shopping list: {', '.join(items)}"


if __name__ == "__main__":
    mcp.run()
