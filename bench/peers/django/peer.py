"""An approval in Django REST framework: settings, view and WSGI application in one file."""

import json
import os
import uuid

import django
import jwt
from django.conf import settings

settings.configure(
    DEBUG=False,
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    INSTALLED_APPS=["rest_framework"],
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": os.environ["PEER_DATABASE"],
            "HOST": os.environ["PEER_SOCKET_DIR"],
            "USER": os.environ["PEER_USER"],
            "CONN_MAX_AGE": None,
            "OPTIONS": {"options": os.environ["PEER_OPTIONS"]},
        }
    },
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
        "UNAUTHENTICATED_USER": None,
    },
)
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework.authentication import BaseAuthentication  # noqa: E402
from rest_framework.exceptions import AuthenticationFailed  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402

SECRET = os.environ["PEER_SECRET"]
NO_HASH = bytes(32)


class User:
    is_authenticated = True

    def __init__(self, user_id):
        self.id = user_id


class Bearer(BaseAuthentication):
    def authenticate(self, request):
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer":
            return None
        try:
            claims = jwt.decode(token, SECRET, algorithms=["HS256"], options={"require": ["exp", "sub"]})
            return User(uuid.UUID(claims["sub"])), None
        except (jwt.InvalidTokenError, ValueError) as error:
            raise AuthenticationFailed() from error

    def authenticate_header(self, request):
        return "Bearer"


class Approve(APIView):
    authentication_classes = [Bearer]

    def post(self, request, org, id):
        seen = request.data.get("version")
        if not isinstance(seen, int):
            return Response({"code": "version_required"}, status=422)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT display_name, is_active, can_approve FROM organization_member"
                " WHERE organization_id = %s AND user_id = %s FOR SHARE",
                [org, request.user.id],
            )
            member = cursor.fetchone()
            if member is None or not member[1]:
                return Response({"code": "not_a_member"}, status=403)
            cursor.execute(
                "SELECT applicant_id, title, description, amount, currency, status, version, content_hash, created_at,"
                " submitted_at FROM approval_request WHERE organization_id = %s AND id = %s FOR UPDATE",
                [org, id],
            )
            row = cursor.fetchone()
            if row is None:
                return Response({"code": "not_found"}, status=404)
            applicant, title, description, amount, currency, status, version, content_hash, created, submitted = row
            if version != seen or status != "pending":
                return Response({"code": "request_changed"}, status=409)
            if not member[2] or applicant == request.user.id:
                return Response({"code": "forbidden"}, status=403)
            cursor.execute(
                "UPDATE approval_request SET status = 'approved', version = version + 1, updated_at = clock_timestamp(),"
                " decided_at = clock_timestamp(), last_action = 'approve', last_actor_id = %s, last_actor_name = %s,"
                " chain_hash = %s WHERE organization_id = %s AND id = %s AND version = %s RETURNING updated_at",
                [request.user.id, member[0], NO_HASH, org, id, version],
            )
            at = cursor.fetchone()[0]
            cursor.execute(
                "INSERT INTO approval_history (organization_id, request_id, version, actor_id, actor_name, action,"
                " from_status, to_status, content_hash, occurred_at, hash_format, entry_hash)"
                " VALUES (%s, %s, %s, %s, %s, 'approve', 'pending', 'approved', %s, %s, 1, %s)",
                [org, id, version + 1, request.user.id, member[0], content_hash, at, NO_HASH],
            )
            event = {"organization_id": str(org), "request_id": str(id), "version": version + 1, "action": "approve",
                     "status": "approved", "actor_id": str(request.user.id), "occurred_at": at.isoformat()}
            cursor.execute(
                "INSERT INTO outbox_event (organization_id, subject_kind, subject_id, seq, event_type, payload, occurred_at)"
                " VALUES (%s, 'request', %s, %s, 'request.approve', %s, %s)",
                [org, str(id), version + 1, json.dumps(event), at],
            )
        return Response({
            "id": id, "organization_id": org, "applicant_id": applicant, "title": title, "description": description,
            "amount": amount, "currency": currency, "status": "approved", "version": version + 1,
            "content_hash": bytes(content_hash).hex(), "created_at": created, "submitted_at": submitted,
            "updated_at": at, "decided_at": at,
        })


class Ready(APIView):
    permission_classes = []

    def get(self, request):
        return Response({"status": "ready"})


urlpatterns = [
    path("health/ready", Ready.as_view()),
    path("api/v1/organizations/<uuid:org>/requests/<uuid:id>/approve", Approve.as_view()),
]
application = get_wsgi_application()
