"""A headless Chromium, for tests of pages; they are skipped where there is none."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SIZE = (1280, 800)


class Browser:
    """What a person does with a page, and sees of it."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path | str, *, width: int = SIZE[0], dark: bool = False) -> None:
        """Open a page, by its file or its address, as for the first time: nothing is kept of it."""
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=SIZE[1], deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        self.driver.get(page if isinstance(page, str) else page.as_uri())
        self.run("localStorage.clear(); sessionStorage.clear()")
        self.driver.refresh()

    def command(self, name: str, **parameters: object) -> Any:
        """Carry out a command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def run(self, script: str, *arguments: object) -> Any:
        """Return what a script returns."""
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys: str) -> None:
        """Press keys one after the other, wherever the focus is."""
        actions = import_module("selenium.webdriver").ActionChains(self.driver, duration=0)
        for key in keys:
            actions.send_keys(key)
        actions.perform()

    def click(self, selector: str) -> None:
        self.driver.find_element("css selector", selector).click()

    def text(self, selector: str) -> str:
        """Return the text of an element, as the page holds it."""
        text: str = self.run("return document.querySelector(arguments[0]).textContent", selector)
        return text

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.run(
            "return Array.from(document.querySelectorAll(arguments[0]), (one) => one.textContent)", selector
        )
        return found

    def errors(self) -> list[str]:
        """Return the errors and warnings of the page's console since the last time, such as what its policy forbade."""
        return [json.dumps(entry) for entry in self.driver.get_log("browser") if entry["level"] != "INFO"]


def wait_until(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


@contextmanager
def open_browser(downloads: Path) -> Iterator[Browser]:
    """Start a browser, and end it; what it downloads goes to a folder."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="The extra test has selenium.")
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("There is no Chromium with its driver: on Debian, install chromium and chromium-driver.")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield Browser(started)
    finally:
        started.quit()
