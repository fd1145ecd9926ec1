"""A person with a real browser: Chromium, without a window, driven through Debian's chromedriver."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import syncline
from tests.fixtures.logins import Someone

if TYPE_CHECKING:
    from selenium.webdriver import Chrome  # imported where it is used: only `nox -s peers` installs it

PROGRAM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = None if PROGRAM and DRIVER else "needs a browser: install the Debian packages chromium and chromium-driver"
#: It runs as root in a container, has nothing to do in the background, and asks nobody but this machine.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-proxy-server",
)
# At DEBUG it repeats each page that is shown, codes and all.
logging.getLogger("selenium").setLevel(logging.INFO)

#: Seconds for a page to be there.
LOADED = 60.0
#: What is shown, once it is all there, and not the page whose button was pressed.
LOOK = """
return !window.pressed && document.readyState === "complete" && [location.href, document.title, document.body.innerText]
"""


@dataclass(frozen=True)
class Page:
    """What a person sees.

    Attributes:
        url: Where.
        title: The title of the page.
        text: Its text.
    """

    url: str
    title: str
    text: str


class Browser:
    """A window. One thing after another: it belongs to one thread at a time."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def visit(self, url: str) -> Page:
        """Go to a URL. Blocks until the page is there."""
        self.driver.get(url)
        return self.page

    def fill(self, **fields: str) -> None:
        """Type into the fields of a form."""
        for name, text in fields.items():
            self.driver.find_element("name", name).send_keys(text)

    def press(self, name: str) -> Page:
        """Press a button. Blocks until the page that it leads to is there."""
        self.driver.execute_script("window.pressed = true")
        self.driver.find_element("xpath", f"//button[text()='{name}']").click()
        return self.page

    @property
    def page(self) -> Page:
        """What is shown. Blocks until it is all there."""
        from selenium.common.exceptions import WebDriverException
        from selenium.webdriver.support.wait import WebDriverWait

        wait = WebDriverWait(self.driver, LOADED, poll_frequency=0.02, ignored_exceptions=[WebDriverException])
        return Page(*wait.until(lambda driver: driver.execute_script(LOOK)))

    def forget(self) -> None:
        """Be somebody who was nowhere before."""
        self.driver.delete_all_cookies()


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A new browser that nobody has used, which ends with the block."""
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    options = ChromeOptions()
    options.binary_location = PROGRAM or ""
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    driver = Chrome(
        options=options, service=ChromeService(executable_path=DRIVER)
    )  # both are named: nothing is downloaded
    try:
        driver.set_page_load_timeout(LOADED)
        yield Browser(driver)
    finally:
        driver.quit()


class Person(Someone):
    """Somebody who says who they are where they are asked, reads what a program wants, and says yes or no.

    Attributes:
        read: What they were asked for.
        ended: The page that they saw last, each time.
        answer: The button that they press.
    """

    def __init__(self, window: Browser) -> None:
        super().__init__(self.do)
        self.window = window
        self.read: list[str] = []
        self.ended: list[Page] = []
        self.answer = "Allow"
        self.busy = threading.Lock()  # one thing after another

    def do(self, url: str) -> str:
        with self.busy:
            page = self.window.visit(url)
            if page.title == "Who are you?":
                self.window.fill(name="ada")
                page = self.window.press("Log in")
            self.read.append(page.text)
            self.ended.append(self.window.press(self.answer))
            return self.ended[-1].text

    def type(self, visit: syncline.Visit) -> None:
        """Type a code."""
        assert visit.code is not None
        self.window.visit(visit.url.partition("?")[0])
        self.window.fill(code=visit.code)
        self.ended.append(self.window.press(self.answer))

    def saw(self, *titles: str) -> None:
        """Check how it ended for them, each time."""
        self.join()
        assert [page.title for page in self.ended] == list(titles)
