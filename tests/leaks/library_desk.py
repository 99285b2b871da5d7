# SPDX-License-Identifier: Apache-2.0
"""A library's loans as a Django application, called through its WSGI interface as a server would."""
import io
import json
import random
import sys

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpResponse, JsonResponse
from django.urls import path

import service

SHELVES = ("history", "poetry", "maps", "physics")


class RecentVisits:
    """Tells in a header how many requests came from the same card."""

    def __init__(self, get_response):
        self.get_response = get_response
        self.visits = []
        self.of_card = {}

    def __call__(self, request):
        card = request.headers.get("X-Card", "none")
        self.of_card[card] = self.of_card.get(card, 0) + 1
        self.visits.append(request)
        response = self.get_response(request)
        response["X-Visits"] = str(self.of_card[card])
        return response


def lend(request, shelf):
    loan = json.loads(request.body)
    if shelf not in SHELVES:
        return HttpResponse(status=404)
    return JsonResponse({"shelf": shelf, "books": len(loan["books"]), "due": 28})


urlpatterns = [path("lend/<str:shelf>", lend)]


def configure():
    settings.configure(
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF=__name__,
        SECRET_KEY="of a test",
        MIDDLEWARE=[__name__ + ".RecentVisits"],
        LOGGING_CONFIG=None,
        USE_TZ=True,
    )
    django.setup()
    return WSGIHandler()


def environ(rng):
    books = [{"title": "volume %d" % rng.randrange(10**6), "pages": rng.randrange(80, 900)} for _ in range(400)]
    body = json.dumps({"books": books}).encode()
    return {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/lend/" + rng.choice(SHELVES),
        "SERVER_NAME": "library",
        "SERVER_PORT": "80",
        "CONTENT_LENGTH": str(len(body)),
        "CONTENT_TYPE": "application/json",
        "HTTP_X_CARD": "card-%d" % rng.randrange(500),
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.url_scheme": "http",
    }


def main():
    handler = configure()
    rng = random.Random(37)
    answers = 0
    for _ in service.rounds(per_second=90):
        response = handler(environ(rng), lambda status, headers: None)
        answers += b"".join(response).count(b"due")
        response.close()
    print("answers %d" % answers)


if __name__ == "__main__":
    main()
