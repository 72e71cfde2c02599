"""Who the tenant of a call is, where a function's own arguments say so.

Decides what may name one. Two names are two tenants unless they are the same characters: case,
accents and blanks count. What names nobody must not become a name that strangers share.
"""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable

from semcache.canonical import plain_text
from semcache.errors import ArgumentError, ValueFormError

__all__ = ["check_tenant", "tenant_name"]


def check_tenant(namespace: object) -> str | Callable[..., object] | None:
    """Give the option `namespace` as it is. Raises ArgumentError when it can name no tenant."""
    if namespace is None or (isinstance(namespace, str) and namespace):
        return namespace
    if callable(namespace) and not inspect.iscoroutinefunction(namespace):
        return namespace
    remedy = "pass a non-empty string, or a plain function of the call's arguments"
    raise ArgumentError("namespace", namespace, remedy)


def tenant_name(tenant: object) -> str:
    """Give the name of the tenant that a rule found for one call.

    Raises ValueFormError for None, an empty text, or an object that prints as its address: such a
    call has no tenant, and goes past the cache.

    >>> tenant_name("acme"), tenant_name(7)
    ('acme', '7')
    """
    if isinstance(tenant, str) and tenant:
        return plain_text(tenant)
    if type(tenant) is int or isinstance(tenant, uuid.UUID):
        return str(tenant)
    found = "None" if tenant is None else f"a value of type {type(tenant).__name__}"
    raise ValueFormError(
        f"namespace: the rule gave {'an empty text' if tenant == '' else found}: return a text "
        "that is not empty, a whole number or a UUID"
    )
