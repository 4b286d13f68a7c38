"""Open WebUI as its makers ship it, in Chromium: a chat, a tool of its own, the hub's tool, an error (issue 18).

Its server asks for engines of gigabytes (speech, embeddings, OCR) that a chat never loads; they are left out.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.keys import Keys
from tests.client_environments import python_environment
from tests.journeys.browser import Browser, open_browser
from tests.ports import free_port
from tests.web.conftest import MemoryHub, application, served
from tests.web.faces.agents import SAID

from naru.cli.clients.entries import CLIENTS
from naru.config import HubSettings, Settings
from naru.errors import ModelError
from naru.messages import ChatRequest
from naru.models.scripted import Answer, ScriptedBackend

VERSION = next(row.tested for row in CLIENTS if row.name == "open-webui")
NOT_NEEDED = (
    *("torch", "transformers", "sentence-transformers", "accelerate", "faster-whisper", "colbert-ai", "unstructured"),
    *("opencv-python-headless", "opencv-python", "rapidocr-onnxruntime", "playwright", "einops", "soundfile", "nltk"),
    *("azure-ai-documentintelligence", "pymilvus", "ddgs"),
)
TOOL = f"""class Tools:
    def bash(self, command: str) -> str:
        \"\"\"
        Run a command.
        :param command: what to run
        \"\"\"
        return "{SAID}"
"""
MADE = """const done = arguments[arguments.length - 1];
fetch('/api/v1/tools/create', {method: 'POST',
  headers: {'Content-Type': 'application/json', Authorization: `Bearer ${localStorage.token}`},
  body: JSON.stringify({id: 'own', name: 'own', content: arguments[0], meta: {description: 'Own'}})})
  .then(answer => done(answer.status));"""
CLOSE_NEWS = """const found = [...document.querySelectorAll('button')].filter(one => one.innerText.includes('Okay'));
if (found.length) found[0].click();
return found.length > 0;"""
READ = "return document.body.innerText"
FIELD = "return document.querySelector('#chat-input')?.innerText.trim()"
FOCUS = "document.querySelector('#chat-input')?.focus()"
READY = """return document.activeElement === document.querySelector('#chat-input')
  && document.querySelectorAll('button[aria-label="Available Tools"]').length === arguments[0]"""
_SECONDS = 120


def play(request: ChatRequest) -> Answer:
    """Play a model that does what the person's words ask for."""
    asked = next(turn.text for turn in reversed(request.messages) if turn.role == "user")
    last, names = request.messages[-1], {tool.name for tool in request.tools}
    if "fail" in asked:
        return ModelError("The scripted model has no room.", status=400)
    if last.role == "tool":
        return f"It said: {last.text}"
    if "your own" in asked and "bash" in names:
        return '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>'
    if "the hub" in asked and "hub__echo" in names:
        return '<tool_call>\n{"name": "hub__echo", "arguments": {"text": "hi"}}\n</tool_call>'
    return "Good day from the model."


@contextlib.asynccontextmanager
async def open_webui(folder: Path, naru: str) -> AsyncIterator[str]:
    """Start its server with what `naru connect open-webui` says."""
    program = python_environment(f"open-webui=={VERSION}", without=NOT_NEEDED).with_name("open-webui")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    (folder / "data").mkdir()
    given = {"OPENAI_API_BASE_URLS": f"{naru}/v1", "OPENAI_API_KEYS": "none", "ENABLE_OLLAMA_API": "false"}
    offline = {"OFFLINE_MODE": "true", "HF_HUB_OFFLINE": "1", "RAG_EMBEDDING_ENGINE": "openai"}
    asides = ("TITLE", "TAGS", "FOLLOW_UP", "AUTOCOMPLETE")
    quiet = {"ANONYMIZED_TELEMETRY": "false", **{f"ENABLE_{name}_GENERATION": "false" for name in asides}}
    own = {"DATA_DIR": str(folder / "data"), "WEBUI_AUTH": "False", "WEBUI_SECRET_KEY": "made-up"}
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(str(program), "serve", "--host", "127.0.0.1", "--port", str(port)),
            env={"PATH": os.environ["PATH"], "HOME": str(folder), **given, **offline, **quiet, **own},
            stdout=log,
            stderr=log,
        )
    try:
        async with asyncio.timeout(_SECONDS), aiohttp.ClientSession() as session:
            while process.returncode is None and not await _answers(session, f"{url}/health"):
                await asyncio.sleep(0.5)
        assert process.returncode is None, (folder / "log").read_text(encoding="utf-8", errors="replace")[-2000:]
        yield url
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _answers(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url) as response:
            return response.status == 200
    except aiohttp.ClientError:
        return False


def ask(browser: Browser, model: str, question: str, says: str, tools: str = "") -> None:
    """Open a new chat, type the question, wait for the answer.

    The page shows its field while it still makes the new chat: a question sent then goes without the tools that the
    address names. It is done when it has put the caret into the field, and shows that tools are chosen.
    """
    driver = browser.driver
    driver.get(f"{browser.url}/?models={quote(model, safe='')}{tools}")
    browser.wait(lambda: driver.execute_script(READY, len(tools and [tools])), _SECONDS)

    def typed() -> bool:
        if driver.execute_script(FIELD) == question:
            return True
        driver.execute_script(FOCUS)  # The page may make the field anew while it loads.
        driver.switch_to.active_element.send_keys(Keys.CONTROL, "a", Keys.NULL, question)
        return False

    def sent() -> bool:
        if driver.execute_script(FIELD) != question:
            return True
        driver.execute_script(FOCUS)
        driver.switch_to.active_element.send_keys(Keys.ENTER)
        with contextlib.suppress(TimeoutException):
            browser.wait(lambda: driver.execute_script(FIELD) != question, 15)
        return False

    browser.wait(typed, _SECONDS)
    browser.wait(sent, _SECONDS)
    browser.wait(lambda: says in driver.execute_script(READ), _SECONDS)


def drive(url: str, profile: Path) -> None:
    with open_browser(url, profile) as browser:
        driver = browser.driver
        driver.get(url)
        browser.wait(lambda: "Release Notes" in driver.execute_script(READ), _SECONDS)
        browser.wait(lambda: driver.execute_script(CLOSE_NEWS) or "Release Notes" not in driver.execute_script(READ))
        browser.wait(lambda: "Release Notes" not in driver.execute_script(READ), _SECONDS)
        assert driver.execute_async_script(MADE, TOOL) == 200
        ask(browser, "m", "Say good day.", "Good day from the model.")
        ask(browser, "m", "Use your own tool.", f"It said: {SAID}", "&tools=own")
        ask(browser, "m+tools", "Use the tool of the hub.", "It said: echo: hi")
        ask(browser, "m", "Now please fail.", "no room")


@pytest.mark.slow
@pytest.mark.chromium
async def test_open_webui_chats_calls_its_own_tool_and_the_hubs_and_shows_an_errors_reason(tmp_path: Path) -> None:
    hub = MemoryHub(ScriptedBackend(play, model="m"), settings=Settings(hub=HubSettings(data_dir=tmp_path / "hub")))
    async with served(application(hub)) as naru, open_webui(tmp_path, naru) as url:
        await asyncio.to_thread(drive, url, tmp_path / "profile")
    assert hub.toolset.called == [("hub__echo", {"text": "hi"})]
