"""Every public numeric function has a law: a property test reaches it, or it is listed here with the reason."""

from __future__ import annotations

from pathlib import Path

from law_coverage import exercised, is_numeric, public

# What a property test reaches through the function that it names.
INNER = {
    "theory.growth:growth": "theory.bounds:bound",
    "theory.nonlinearity:nonlinearity": "theory.nonlinearity:from_expr theory.pieces:split theory.pieces:merged "
    "theory.gaussian_terms:parts theory.terms:terms theory.ball:apply theory.ball:real_roots theory.growth:poles",
    "theory.kernel_value:value": "theory.kernel_value:without_closed_form theory.plane:integral "
    "theory.plane:inner_product theory.rotated_plane:integral theory.bivariate:phi2_integral "
    "theory.power_kernel:half_powers",
    "theory.hermite:coefficients": "theory.gaussian_moments:rounded",
    "numerics.covariance:predicted": "numerics.covariance:moment theory.covariance:evaluate theory.covariance:moments "
    "theory.covariance:moment_enclosure theory.covariance:readings theory.covariance:printed "
    "theory.covariance:rank_one",
    "numerics.gain:gain": "numerics.ridge:resolvent_parts",
    "numerics.spike_matrix:spike_matrix": "theory.second_step:remainder_variance",
    "numerics.second_step:regress": "numerics.second_step:fit",
    "numerics.conditional:conditional_risk": "numerics.conditional:covariance_with_label",
    "numerics.edge:count_outliers": "numerics.edge:squared_singular_values",
    "numerics.kernel_matrix:kernel_matrix": "numerics.kernel_entries:Entries.block "
    "numerics.kernel_entries:Entries.enclosed",
    "numerics.kernel_table:build": "numerics.kernel_table:Axis.basis numerics.kernel_table:Axis.scales",
    "numerics.spiked_spectrum:sector": "numerics.spiked_spectrum:Sector.eigenfunction",
    "numerics.truncated_spectrum:truncated_sector": "numerics.truncated_spectrum:TruncatedSector.eigenfunction",
    "numerics.program_values:compiled": "theory.dyson_program:dyson_program numerics.program_values:Compiled.at",
    "theory.equivalent:read": "theory.dyson:dyson_system theory.dyson_root:find_root theory.dyson_root:evaluate "
    "theory.elimination:sample_roots theory.elimination:reduce theory.elimination:value_ball "
    "theory.elimination:scalar_ball theory.equivalent_spectrum:real_roots "
    "theory.equivalent_spectrum:rounded",
}
EXEMPT = {
    "it runs, stores or compares trials and has no formula of its own": "numerics.check numerics.runner numerics.store "
    "numerics.cluster numerics.stream numerics.own_code",
    "it simulates; the ledger measures it against the theory": "numerics.batch_average:distance numerics.two_steps "
    "numerics.simulated_risk:simulated_risk numerics.second_step:split_gradient numerics.edge:residual "
    "numerics.weights:WeightSpectrum.law",
    "it is an entry of a table, or its argument or a refusal; tests go through the cases": "theory.catalogue:entry "
    "theory.hermite:check_degree theory.second_step:check_power",
    "it lists or counts directions by exact rules; tests go through the cases": "theory.directions:reach_table "
    "theory.directions:vanishing_spikes theory.directions:further_orders theory.phases:count "
    "theory.parametric:moved theory.signs:sign_of theory.kink:crossing "
    "theory.generative:generative_exponent theory.generative:level_moment",
    "it reads an expression or sorts a graph; tests go through the cases": "theory.matrix_expression "
    "theory.equivalents theory.matrix_text theory.realisation theory.dyson:classes "
    "theory.elimination:at_atom",
    "it simulates what was typed; the ledger compares it with the theory": "numerics.equivalent_simulation",
    "it reads a file; tests write each format by its description or its library": "numerics.array_file "
    "numerics.checkpoint_file numerics.csv_matrix numerics.tensor numerics.weight_files:find "
    "numerics.weight_files:matching numerics.weight_files:tensors",
    "it compiles what a result states; tests compare the programs with the commands": "numerics.program",
    "it puts exact moments into the formulas; tests compare it with the floats": "theory.spiked_features:exact",
    "it passes a number on, exactly": "theory.parse:within theory.second_step:enclosed_rational theory.parse:integer "
    "numerics.kernel_matrix:rows",
    "it sums a series whose value a check compares with the closed form": "numerics.spiked_kernel:partial_sums",
}
INNER_NAMES, EXEMPT_NAMES = ({name for text in table.values() for name in text.split()} for table in (INNER, EXEMPT))


def numeric() -> set[str]:
    """Functions, and the methods of numerics (those of theory are parts of the functions there)."""
    found = {name for name, value in public() if is_numeric(value)}
    return {name for name in found if name.startswith("numerics") or "." not in name.split(":")[1]}


def test_every_numeric_function_has_a_law_or_a_reason() -> None:
    listed = INNER_NAMES | EXEMPT_NAMES
    missing = numeric() - exercised(Path(__file__).parent)
    assert sorted(name for name in missing if name not in listed and name.split(":")[0] not in listed) == []


def test_no_reason_is_out_of_date() -> None:
    reached = exercised(Path(__file__).parent)
    known = numeric()
    assert (INNER_NAMES | EXEMPT_NAMES) - known - {name.split(":")[0] for name in known} == set()
    assert sorted((INNER_NAMES | EXEMPT_NAMES) & reached) == []
    assert sorted(set(INNER) - reached) == []


def test_what_no_law_names_is_missed(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        "from bulkedge.numerics.spectra import tracy_widom\nfrom hypothesis import given\n"
        "def helper(s):\n    return tracy_widom.cdf(s)\n"
        "@given(...)\ndef test_law(s):\n    helper(s)\ndef test_case():\n    tracy_widom.pdf(0)\n"
    )
    assert exercised(tmp_path) == {"numerics.tracy_widom:cdf"}
