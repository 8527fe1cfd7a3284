#!/usr/bin/env python3
"""Opens a built site in headless Chromium, as a reader does:  browser.py HTML [--pictures=DIR]

The front page shows its figures, the search finds a page by its words and leads to it, the reference of the package has its functions, and
axe-core finds no fault of contrast, names or order on these pages, light and dark. The browser's log must have no error. With --pictures
the pages become files FRONT.png, SEARCH.png, API.png and so on.

Needs Debian's chromium and chromium-driver. Run it by the Python of install.sh.
"""
import argparse
import functools
import http.server
import pathlib
import shutil
import sys
import threading

import axe_playwright_python
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

PAGES = {"front": "index.html", "api": "api/python.html", "tutorial": "docs/tutorial-python.html"}
QUERY = "histogram"
SECONDS = 300  # on a machine with other work


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    # With a mouse, as on a desktop: without one the theme takes listings out of the order of the Tab key.
    mouse = "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"
    for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,1600", "--hide-scrollbars", mouse):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


class Visit:
    def __init__(self, driver, root, pictures):
        self.driver, self.root, self.pictures = driver, root, pictures
        self.wait = WebDriverWait(driver, SECONDS)
        driver.set_script_timeout(SECONDS)

    def open(self, page, dark=False):
        media = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
        self.driver.get(f"{self.root}/{page}")

    def picture(self, name):
        if self.pictures:
            self.driver.save_screenshot(str(self.pictures / f"{name.upper()}.png"))

    def faults(self, where):
        """Those of axe-core's rules for WCAG 2 A and AA, and of the browser."""
        self.driver.execute_script((pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
        # Colours change slowly where a reader wants that; axe must see the last ones.
        self.driver.execute_script("document.getAnimations().forEach(a => a.finish())")
        found = self.driver.execute_async_script("axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa']}).then(arguments[0])")
        for rule in found["violations"]:
            yield f"{where}: {rule['id']}: {rule['help']}: {len(rule['nodes'])} places, as {rule['nodes'][0]['html'][:120]}"
        if not found["passes"]:
            yield f"{where}: axe-core looked at nothing"
        yield from (f"{where}: {entry['message']}" for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE")

    def search(self):
        """Types a word and opens the first page that the site names."""
        self.open(PAGES["front"])
        self.driver.find_element(By.CSS_SELECTOR, "input.md-search__input").send_keys(QUERY)
        links = self.wait.until(lambda d: d.find_elements(By.CSS_SELECTOR, ".md-search-result__item a.md-search-result__link"))
        self.picture("search")
        self.driver.get(links[0].get_attribute("href"))
        if QUERY not in self.driver.find_element(By.CSS_SELECTOR, "article").text.lower():
            yield f"search: the first page for {QUERY!r} does not have it: {self.driver.current_url}"

    def problems(self):
        for name, page in PAGES.items():
            for dark in (False, True):
                self.open(page, dark)
                self.picture(name + "-dark" * dark)
                yield from self.faults(page + ", dark" * dark)
            unseen = self.driver.execute_script("return [...document.images].filter(i => !i.naturalWidth).map(i => i.src)")
            yield from (f"{page}: {source} shows nothing" for source in unseen)
        self.open(PAGES["api"])
        yield from (f"{PAGES['api']}: has no {name}" for name in ("tilevm.load", "tilevm.Kernel")
                    if not self.driver.find_elements(By.ID, name))
        yield from self.search()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("html", type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path)
    args = parser.parse_args()
    if args.pictures:
        args.pictures.mkdir(parents=True, exist_ok=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=args.html))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    driver = browser()
    try:
        found = list(Visit(driver, f"http://127.0.0.1:{server.server_port}", args.pictures).problems())
    finally:
        driver.quit()
        server.shutdown()
    print("\n".join(found) if found else f"{len(PAGES)} pages, light and dark, and a search: as they should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
