# SPDX-License-Identifier: Apache-2.0
"""scikit-learn: Cython, libsvm, liblinear, OpenMP teams and joblib's threads."""
import warnings

import native_workload

try:
    import numpy as np
    from sklearn import cluster, decomposition, ensemble, linear_model, neighbors, svm, tree
except ImportError as error:
    native_workload.skip("native_sklearn", error)

warnings.simplefilter("ignore")
random = np.random.RandomState(3)
features = random.rand(400, 12)
classes = (features[:, 0] + features[:, 1] > 1).astype(int)


def forest(number):
    """Trees grown in two threads."""
    model = ensemble.RandomForestClassifier(n_estimators=8, n_jobs=2, random_state=number)
    return model.fit(features, classes).score(features, classes) > 0.9


def support_vectors(number):
    model = svm.SVC(kernel="rbf").fit(features, classes)
    return model.score(features, classes) > 0.8


def clusters(number):
    """An OpenMP team."""
    model = cluster.KMeans(n_clusters=4, n_init=2, random_state=number).fit(features)
    return len(model.cluster_centers_) == 4


def linear_models(number):
    lasso = linear_model.Lasso(alpha=0.01).fit(features, classes)
    logistic = linear_model.LogisticRegression(solver="liblinear").fit(features, classes)
    return lasso.coef_.shape == (12,) and logistic.score(features, classes) > 0.8


def boosting(number):
    model = ensemble.HistGradientBoostingClassifier(max_iter=5).fit(features, classes)
    return model.score(features, classes) > 0.8


def others(number):
    reduced = decomposition.PCA(n_components=3).fit_transform(features)
    nearest = neighbors.KNeighborsClassifier(3).fit(features, classes).score(features, classes)
    grown = tree.DecisionTreeRegressor(max_depth=5).fit(features, classes)
    return reduced.shape == (400, 3) and nearest > 0.8 and grown.get_depth() <= 5


if __name__ == "__main__":
    native_workload.run(
        "native_sklearn",
        [forest, support_vectors, clusters, linear_models, boosting, others], __doc__)
