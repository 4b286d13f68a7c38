"""A code forge as its API would offer it: camelCase, commits, issues, pull requests, users."""

from __future__ import annotations

from typing import Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

mcp = MCPServer("forge")

REPOS = {"atlas": {"name": "atlas", "language": "Rust", "defaultBranch": "trunk", "stars": 1204},
         "beacon": {"name": "beacon", "language": "Go", "defaultBranch": "main", "stars": 87}}  # fmt: skip
ISSUES = [
    {"number": 41, "repo": "atlas", "title": "Map tiles flicker on zoom", "state": "open", "author": "rkhan", "labels": ["bug"]},
    {"number": 42, "repo": "atlas", "title": "Support dark theme", "state": "closed", "author": "lucia-m", "labels": ["feature"]},
    {"number": 7, "repo": "beacon", "title": "Crash when the port is taken", "state": "open", "author": "rkhan", "labels": ["bug"]},
]  # fmt: skip
COMMITS = {
    "9f3c2ab": {"sha": "9f3c2ab", "repo": "atlas", "message": "Cache decoded tiles", "author": "rkhan", "date": "2026-11-18"},
    "b77e01d": {"sha": "b77e01d", "repo": "beacon", "message": "Retry on a taken port", "author": "lucia-m", "date": "2026-11-20"},
}  # fmt: skip
USERS = {"rkhan": {"login": "rkhan", "fullName": "Rafiq Khan", "company": "Northwind"},
         "lucia-m": {"login": "lucia-m", "fullName": "Lucía Márquez", "company": "Tidal Labs"}}  # fmt: skip


@mcp.tool()
def getRepository(name: str) -> dict:
    """Get a repository: language, default branch, stars."""
    if name not in REPOS:
        raise ToolError(f"404: repository {name}")
    return REPOS[name]


@mcp.tool()
def listIssues(repo: str, state: Literal["open", "closed", "all"] = "open") -> list[dict]:
    """List the issues of a repository."""
    return [
        {"number": one["number"], "title": one["title"]}
        for one in ISSUES
        if one["repo"] == repo and state in ("all", one["state"])
    ]


@mcp.tool()
def getIssue(repo: str, issueNumber: int) -> dict:
    """Get one issue of a repository."""
    for one in ISSUES:
        if (one["repo"], one["number"]) == (repo, issueNumber):
            return one
    raise ToolError(f"404: issue {repo}#{issueNumber}")


@mcp.tool()
def listCommits(repo: str, perPage: int = 10) -> list[dict]:
    """List recent commits of a repository."""
    return [{"sha": one["sha"], "message": one["message"]} for one in COMMITS.values() if one["repo"] == repo][:perPage]


@mcp.tool()
def getCommit(sha: str) -> dict:
    """Get a commit with its author and date."""
    if sha not in COMMITS:
        raise ToolError(f"404: commit {sha}")
    return COMMITS[sha]


@mcp.tool()
def getUser(login: str) -> dict:
    """Get the profile of a user."""
    if login not in USERS:
        raise ToolError(f"404: user {login}")
    return USERS[login]


if __name__ == "__main__":
    mcp.run()
