"""Tests the page in a headless browser: where a click lands, what the navigation marks, what pictures contain."""

import importlib.util
import shutil
import tempfile
import unittest
from pathlib import Path

import fixture
from pages import report

webdriver = importlib.import_module("selenium.webdriver") if importlib.util.find_spec("selenium") else None

GPU = "NVIDIA Test 100"
METHODS = {"gesv": "cusolver gauss_block jordan", "getrf": "cusolver recursive", "trsv": "cublas doubling"}
WINDOWS = ((1400, 900), (400, 800))
TOP = 120  # after a click, the heading must be at most this number of pixels below the window's top


def several_problems():
    """Returns records of all METHODS on one GPU. fixture.Night makes the synthetic records of one results file."""
    night = fixture.Night("browser")
    for problem, names in METHODS.items():
        for i, method in enumerate(names.split()):
            for n in (256, 512, 1024, 2048):
                night.trial(problem, method, n, 1e-9 * n**2 * (i + 1), gpu=GPU, reference_method=names.split()[0])
    return night


@unittest.skipUnless(
    webdriver and shutil.which("chromedriver"), "needs chromedriver (Debian: chromium-driver, python3-selenium)"
)
class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        file = several_problems().write(Path(folder.name) / "results.h5")
        report(file, out=Path(folder.name) / "out")
        cls.address = (Path(folder.name) / "out" / "index.html").as_uri()
        options = webdriver.ChromeOptions()
        for option in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
            options.add_argument(f"--{option}")
        service = importlib.import_module("selenium.webdriver.chrome.service")
        cls.browser = webdriver.Chrome(service=service.Service(shutil.which("chromedriver")), options=options)
        cls.browser.set_script_timeout(60)
        cls.addClassCleanup(cls.browser.quit)

    def open(self, width, height):
        """Opens the page anew, in a window whose inside has this size."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.browser.get("about:blank")
        self.browser.get(self.address)

    def after_frames(self, script):
        """Runs a script that defines a function `result`. Returns what `result()` returns two frames later."""
        return self.browser.execute_async_script(
            f"{script}; const done = arguments[0];"
            "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(result()), 100)));"
        )

    def test_a_click_on_a_fresh_page_lands_at_the_heading(self):
        for window in WINDOWS:
            self.open(*window)
            hashes = self.browser.execute_script("return [...document.querySelectorAll('nav a')].map((a) => a.hash)")
            # One link per problem, and at least three to other sections.
            self.assertGreaterEqual(len(hashes), len(METHODS) + 3)
            for target in hashes:
                with self.subTest(window=window, target=target):
                    self.open(*window)
                    top, marked = self.after_frames(
                        f"document.querySelector('nav a[href=\"{target}\"]').click();"
                        f"const heading = document.querySelector('{target} :is(h2, h3)');"
                        "const result = () => [heading.getBoundingClientRect().top,"
                        "document.querySelector('nav [aria-current]').hash]"
                    )
                    self.assertTrue(0 <= top <= TOP, top)
                    self.assertEqual(marked, target)

    def test_nothing_but_tables_scrolls_sideways(self):
        for window in WINDOWS:
            self.open(*window)
            # The navigation's height without its content and its top border: the scrollbar and the bottom border.
            too_wide, bar = self.browser.execute_script(
                "const page = document.documentElement, nav = document.querySelector('nav');"
                "return [page.scrollWidth - page.clientWidth, nav.offsetHeight - nav.clientHeight - nav.clientTop]"
            )
            self.assertEqual(too_wide, 0)
            self.assertLessEqual(bar, 1, "the navigation has a scrollbar below its border")

    def test_the_corner_of_the_grid_stays_in_view(self):
        self.open(*WINDOWS[1])
        (left, corner, name), right = self.browser.execute_script(
            "const grid = document.querySelector('table.grid'), box = grid.parentElement; box.scrollLeft = 1e6;"
            "const left = (element) => element.getBoundingClientRect().left;"
            "return [[box, ...grid.querySelectorAll('tr > :first-child')].slice(0, 3).map(left), box.scrollLeft];"
        )
        self.assertGreater(right, 0)
        self.assertEqual(corner, name)
        self.assertLessEqual(corner - left, 1)

    def test_print_gives_opened_tables_the_width_of_the_page(self):
        self.open(*WINDOWS[0])
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"media": ""})
        widths = self.browser.execute_script(
            "return [...document.querySelectorAll('.block details')].map((table) => { table.open = true;"
            "return [table.offsetWidth, table.closest('.block').clientWidth]; })"
        )
        self.assertGreaterEqual(len(widths), len(METHODS))
        for table, block in widths:
            self.assertEqual(table, block)

    def test_names_in_sentences_do_not_break(self):
        self.open(*WINDOWS[1])
        lines = self.browser.execute_script(
            "const p = document.querySelector('main').appendChild(document.createElement('p'));"
            "p.innerHTML = '<b>lu_<wbr>serial</b> '.repeat(9);"
            "return [...p.children].map((b) => new Set([...b.getClientRects()].map((box) => box.top)).size)"
        )
        self.assertEqual(lines, [1] * 9)

    def test_the_navigation_follows_a_jump(self):
        self.open(*WINDOWS[0])
        marked = self.after_frames(
            "document.documentElement.scrollTop = 1e6;"
            "const result = () => [...document.querySelectorAll('nav a')].map((a) => a.hasAttribute('aria-current'))"
        )
        self.assertEqual(marked, [False] * (len(marked) - 1) + [True])

    def test_plots_that_were_never_in_view_are_drawn(self):
        self.open(*WINDOWS[0])
        undrawn = self.browser.execute_async_script(
            "const done = arguments[0], boxes = [...document.querySelectorAll('.canvas')]; const look = () => {"
            "const left = boxes.filter((box) => box.clientWidth && !box.querySelector('canvas'));"
            "if (!left.length || performance.now() > 30000) done(left.length); else setTimeout(look, 50); }; look();"
        )
        self.assertEqual(undrawn, 0)

    def test_a_plot_of_tiny_values_is_drawn(self):
        """Backward errors of accurate answers may differ by less than 1e-16."""
        night = fixture.Night("tiny")
        for i, method in enumerate(("cusolver", "recursive")):
            errors = {"backward_error": 2e-17 * (1 + i), "forward_error": 1e-11}
            night.trial("posv", method, 256, 1e-3, gpu=GPU, **errors)
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            report(night.write(Path(folder) / "results.h5"), out=out)
            self.browser.get((out / "index.html").as_uri())
            painted = self.after_frames(
                "const plots = [...document.querySelectorAll('figure.plot')];"
                "const plot = plots.find((f) => f.textContent.includes('Forward'));"
                "plot.scrollIntoView(); const result = () => { const c = plot.querySelector('canvas');"
                "const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
                "return p.filter((v, i) => i % 4 === 3 && v > 0).length; }"
            )
        self.assertGreater(painted, 1000)

    def test_both_axes_of_a_single_point_have_two_ticks(self):
        """A double click on a name in the legend hides all other series. The test records the texts that are drawn
        then, with their alignments."""
        self.open(*WINDOWS[0])
        texts = self.browser.execute_async_script(
            "const done = arguments[0], texts = [], context = CanvasRenderingContext2D.prototype;"
            "const fill = context.fillText, plots = [...document.querySelectorAll('figure.plot')];"
            "const plot = plots.find((f) => f.textContent.includes('Roofline')); plot.scrollIntoView();"
            "const frame = () => new Promise((then) => setTimeout(then, 200));"
            "(async () => { while (!plot.querySelector('canvas')) await frame();"
            "context.fillText = function (text, ...at) { fill.call(this, text, ...at);"
            "if (plot.contains(this.canvas)) texts.push([this.textAlign, text]); };"
            "plot.querySelector('.legend button').dispatchEvent(new MouseEvent('dblclick'));"
            "await frame(); context.fillText = fill; done(texts); })();"
        )
        for align in ("center", "right"):  # the x axis and the y axis
            ticks = {text for drawn, text in texts if drawn == align and text.replace(".", "").isdigit()}
            self.assertGreaterEqual(len(ticks), 2, texts)

    def test_hiding_a_series_unfades_the_others(self):
        """The first click hides a series; this picture is the expected one. The second click shows the series again.
        Then the mouse enters its name, which fades the other series. The third click hides it and must end the
        fading."""
        self.open(*WINDOWS[0])
        is_equal = self.browser.execute_async_script(
            "const done = arguments[0], box = [...document.querySelectorAll('.canvas')].find((c) => c.clientWidth);"
            "const button = box.parentElement.querySelector('.legend button'); box.scrollIntoView();"
            "const frame = () => new Promise((then) => setTimeout(then, 200));"
            "const picture = () => box.querySelector('canvas').toDataURL();"
            "(async () => { while (!box.querySelector('canvas')) await frame();"
            "button.click(); await frame(); const expected = picture(); button.click();"
            "button.dispatchEvent(new MouseEvent('mouseenter')); button.click(); await frame();"
            "done(picture() === expected); })();"
        )
        self.assertTrue(is_equal)

    def test_the_page_without_scripts_keeps_its_margin(self):
        command = self.browser.execute_cdp_cmd
        command("Emulation.setScriptExecutionDisabled", {"value": True})
        self.addCleanup(command, "Emulation.setScriptExecutionDisabled", {"value": False})
        self.open(*WINDOWS[0])
        root, left = command("DOM.getDocument", {})["root"]["nodeId"], []
        for selector in ("h1", "noscript p"):
            node = command("DOM.querySelector", {"nodeId": root, "selector": selector})
            left.append(command("DOM.getBoxModel", node)["model"]["content"][0])
        self.assertEqual(*left)

    def test_drawing_plots_moves_nothing(self):
        for window in WINDOWS:
            self.open(*window)
            self.browser.execute_script("window.stop()")
            before, after = self.browser.execute_async_script(
                "const done = arguments[0], high = () => document.documentElement.scrollHeight, before = high();"
                "document.querySelectorAll('.canvas').forEach((c) => c.scrollIntoView());"
                "setTimeout(() => done([before, high()]), 1500);"
            )
            self.assertEqual(before, after)


if __name__ == "__main__":
    unittest.main()
