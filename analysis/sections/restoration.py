"""Shows degraded and restored images: Figures 6.1 to 6.7 and Table 6.3 of Soriano's thesis. The numbers that the
thesis printed are lost."""

import io

import numpy as np
import pandas as pd
from matplotlib import image as pictures

from ..page import counted, factor, number, seconds

# (degradation, kind of noise) -> the figure in Soriano's thesis
FIGURES = {
    ("blurred", "none"): "6.2",
    ("blurred", "salt_pepper"): "6.3",
    ("blurred", "gaussian"): "6.4",
    ("sharpened", "none"): "6.5",
    ("sharpened", "salt_pepper"): "6.6",
    ("sharpened", "gaussian"): "6.7",
}
# Point-spread function -> words for its effect on the image.
EFFECTS = {
    "gaussian": "blurred",
    "box": "blurred",
    "sharpen": "sharpened",
    "motion": "blurred by motion",
    "file": "blurred by a given function",
}
NOISE = {"none": "without noise", "salt_pepper": "with salt and pepper noise", "gaussian": "with gaussian noise"}
MOST_PAIRS = 60  # pairs of a degraded and a restored image on the page


def restoration(page, results):
    if not results.restorations:
        return  # most result files are of sweeps, without pictures
    page.begin("restoration", "Image restoration")
    page.add(
        "An image f was degraded to g = H f + noise and restored from g by inverting a matrix (Soriano, chapter 6)."
        " Errors are computed before rounding and clipping: MSE in squared levels of 0 to 255, PSNR relative to 255."
        " The pictures are rounded and clipped."
    )
    restorations = sorted(results.restorations, key=_order)
    thesis = _all_of_the_thesis(restorations)
    _table(page, restorations, thesis)
    _findings(page, restorations)
    shown = set()
    for one in restorations[:MOST_PAIRS]:
        digest = one.text("image_sha256")
        if digest not in shown:
            shown.add(digest)
            caption = (
                f"{'Figure 6.1. ' if digest in thesis else ''}The original, {one.text('image')},"
                f" {one.original.shape[1]} × {one.original.shape[0]}."
            )
            page.pictures(f"{one.name}-original", caption, [("original", png(one.original))])
        figure = FIGURES.get((_effect(one), _noise(one))) if digest in thesis else None
        words = (
            f"{f'Figure {figure}. ' if figure else ''}The image"
            f" {_effect(one)} {NOISE.get(_noise(one), one.text('noise'))}, and restored ({_how(one)}; {one.name})."
        )
        page.pictures(one.name, words, [("degraded", png(one.degraded)), ("restored", png(one.restored))])
    if len(restorations) > MOST_PAIRS:
        page.remark(f"{counted(len(restorations) - MOST_PAIRS, 'more restoration')} in the table only.")


def png(levels):
    """Returns a picture, an array of grey levels, as bytes of a PNG file."""
    buffer = io.BytesIO()
    grey = np.rint(np.clip(np.nan_to_num(levels, nan=0.0, posinf=255, neginf=0), 0, 255)).astype(np.uint8)
    pictures.imsave(
        buffer, np.repeat(grey[..., None], 3, axis=2), format="png"
    )  # RGB, so that matplotlib does not rescale the levels
    return buffer.getvalue()


def _plain(value):
    """Formats a number that a user chose, such as λ, without trailing zeros."""
    return f"{value:g}" if np.isfinite(value) else "–"


def _effect(one):
    """Returns words for what degraded the image."""
    return EFFECTS.get(one.text("psf"), one.text("psf"))


def _noise(one):
    """Returns the kind of noise, without its strength: "gaussian" of "gaussian:8"."""
    return one.text("noise").split(":")[0]


def _how(one):
    """Returns the formula, λ, the method and the precision with which the image was restored."""
    lam = one.number("lambda")
    return ", ".join(
        [
            one.text("formula"),
            *([f"λ = {_plain(lam)}"] if np.isfinite(lam) else []),
            one.text("method"),
            one.text("precision"),
        ]
    )


def _order(one):
    """Returns the sort key: the thesis's figures in their order, then other degradations by name."""
    return (
        FIGURES.get((_effect(one), _noise(one)), "9"),
        _effect(one),
        list(NOISE).index(_noise(one)) if _noise(one) in NOISE else 9,
        one.name,
    )


def _table(page, restorations, thesis):
    """Adds the table of all restorations. `thesis`: as `_all_of_the_thesis` returns it."""
    frame = pd.DataFrame(
        [
            {
                "figure": FIGURES.get((_effect(one), _noise(one)), "") if one.text("image_sha256") in thesis else "",
                "case": one.name,
                "psf": one.text("psf_text"),
                "noise": one.text("noise"),
                "formula": one.text("formula"),
                "lambda": one.number("lambda"),
                "method": one.text("method"),
                "device": one.text("device"),
                "precision": one.text("precision"),
                "mse_degraded": one.number("mse_degraded"),
                "mse_restored": one.number("mse_restored"),
                "gain": (
                    one.number("mse_degraded") / one.number("mse_restored") if one.number("mse_restored") else np.inf
                ),
                "psnr_degraded": one.number("psnr_degraded"),
                "psnr_restored": one.number("psnr_restored"),
                "products": one.text("gemm_method") or one.text("products"),
                "generate_seconds": one.number("generate_seconds"),
                "product_seconds": one.number("product_seconds") if one.text("gemm_method") else np.nan,
                "invert_seconds": one.number("invert_seconds"),
                "apply_seconds": one.number("apply_seconds"),
                "residual_ratio": one.number("residual_ratio"),
                "status": one.text("status"),
            }
            for one in restorations
        ]
    )
    page.table(
        "restoration",
        frame,
        [
            "figure case",
            ("mse_degraded", "MSE degraded", number),
            ("mse_restored", "MSE restored", number),
            ("gain", "reduction", factor),
            ("psnr_degraded", "PSNR degraded [dB]", number),
            ("psnr_restored", "PSNR restored [dB]", number),
            ("psf", "point-spread function", None),
            "noise formula",
            ("lambda", "λ", _plain),
            ("method", "inverted by", None),
            "precision",
            ("device", "on", None),
            ("products", "products by", None),
            ("generate_seconds", "matrix", seconds),
            ("product_seconds", "products", seconds),
            ("invert_seconds", "inversion", seconds),
            ("apply_seconds", "image", seconds),
            ("residual_ratio", "residual ratio", number),
            ("status", "inverse", None),
        ],
        limit=200,
        caption=(
            ("Table 6.3 of the thesis, measured again (the numbers printed there are lost): mean" if thesis else "Mean")
            + " squared error of the degraded and the restored image."
        ),
    )


def _all_of_the_thesis(restorations):
    """Returns the digests of the images that have all six restorations of the thesis (jobs/restoration.sh). Only these
    get the thesis's figure numbers."""
    degradations = {}
    for one in restorations:
        degradations.setdefault(one.text("image_sha256"), set()).add((_effect(one), _noise(one)))
    return {digest for digest, kinds in degradations.items() if kinds >= set(FIGURES)}


def _findings(page, restorations):
    """Adds sentences: the smallest reduction of the error without noise, images that became worse, and inverses that
    did not pass."""
    worse = [one.name for one in restorations if not one.number("mse_restored") < one.number("mse_degraded")]
    without_noise = [one for one in restorations if _noise(one) == "none"]
    sentences = []
    if without_noise:
        smallest = min(
            without_noise, key=lambda one: one.number("mse_degraded") / max(one.number("mse_restored"), 1e-300)
        )
        least = smallest.number("mse_degraded") / max(smallest.number("mse_restored"), 1e-300)
        if least >= 1:  # otherwise the next sentence names the images that became worse
            sentences.append(f"Without noise the error falls at least by {factor(least)} ({smallest.name}).")
    sentences.append(
        "Every restored image is closer to its original than the degraded one."
        if not worse
        else "Restoration increased the error: " + ", ".join(worse[:8]) + ("; …" if len(worse) > 8 else "") + "."
    )
    wrong = [f"{one.name} ({one.text('status')})" for one in restorations if one.text("status") != "pass"]
    if wrong:
        sentences.append(
            "The inverse did not pass its check: " + ", ".join(wrong[:8]) + ("; …" if len(wrong) > 8 else "") + "."
        )
    page.items(sentences)
