"""The order of the examples: as one would tell them."""

TOLD = [
    *("quickstart", "bound_over_time", "best_sets", "checkpoint", "custom_family", "custom_solver"),
    *("feature_path", "group_features", "sensors", "gaussian_field", "design", "k_medoids"),
    *("max_cut", "segmentation", "denoising", "many_labels", "stereo", "point_matching", "classifier_tree"),
    *("prism_2d", "prism_3d"),
]


class ByTelling:
    """Examples in the order of TOLD; the others after them, by name."""

    def __init__(self, source: str) -> None:
        self.source = source

    def __call__(self, name: str) -> tuple[int, str]:
        """What a file is sorted by."""
        stem = name.removesuffix(".py")
        return (TOLD.index(stem) if stem in TOLD else len(TOLD), stem)
