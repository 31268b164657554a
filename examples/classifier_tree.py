"""A discriminative TAN on the HEPATITIS data: every cut behind its tree is proved optimal."""

import os
import tempfile
from pathlib import Path

from sklearn.model_selection import cross_val_score

from dsprog.applications import TANClassifier, load_hepatitis

data = load_hepatitis().complete()
classifier = TANClassifier().fit(data.X, data.y)

names = classifier.feature_names_in_
print(f"{len(classifier.cuts_)} cuts, all certified: {classifier.certified_}")
for cut in classifier.cuts_[:3]:
    print(f"EAR {cut.value:.4f} >= {cut.lower_bound:.4f}: {', '.join(names[list(cut.part)])} | {len(cut.rest)} others")
for child, parent in zip(names, classifier.tree_):
    print(f"{child:>16} {'(root)' if parent < 0 else '<- ' + names[parent]}")
print(f"accuracy, five folds: {cross_val_score(TANClassifier(), data.X, data.y, cv=5).mean():.3f}")

try:
    import matplotlib
except ImportError:
    print("no matplotlib, no picture: pip install dsprog[plot]")
else:
    matplotlib.use("Agg")
    path = Path(os.environ.get("DSPROG_PICTURES", tempfile.mkdtemp())) / "classifier_tree.png"
    classifier.plot().figure.savefig(path, dpi=110)
    print(path)
