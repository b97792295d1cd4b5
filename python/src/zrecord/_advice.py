"""What a user can do about the error of a storage's client."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

# Codes of S3, as the engine knows them.
_EXPIRED = frozenset(("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired"))
_UNKNOWN = frozenset(("InvalidToken", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidClientTokenId"))
_DENIED = frozenset(("AccessDenied", "AllAccessDisabled"))
_NO_BUCKET = frozenset(("NoSuchBucket", "InvalidBucketName"))
_OF_CREDENTIALS = re.compile("Credential|TokenRetrieval|SSOToken|RefreshError|ClientAuthentication")
# Errors of botocore where the service that gives credentials did not answer, or gave none this time.
_NOT_FETCHED = frozenset(("CredentialRetrievalError", "MetadataRetrievalError"))
# Where errors have the status of a response: those of aiohttp, of Azure, and of gcsfs.
_STATUS = ("status", "status_code", "code")
_FORBIDDEN = "Forbidden: "  # how gcsfs tells the status 403
_FINAL = (FileNotFoundError, PermissionError, NotADirectoryError, NotImplementedError, ImportError, TypeError, ValueError)


def links(error: BaseException) -> Iterator[BaseException]:
    """Returns an error and all errors that led to it."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        link = left.pop()
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        left += (link.__cause__, link.__context__)
        parts = getattr(link, "exceptions", ())  # those of an ExceptionGroup
        left += (part for part in parts if isinstance(part, BaseException)) if isinstance(parts, (tuple, list)) else ()


def is_without_bucket(error: BaseException) -> bool:
    """Tells whether a server of S3 says that there is no such bucket, which clients call a missing file."""
    return _code(error) in _NO_BUCKET


def is_final(error: Exception) -> bool:
    """Tells whether the same request would be refused again, or was sent again by the client already."""
    status = _status(error)
    is_refused = 400 <= status < 500 and status not in (408, 429)
    # The client of Azure sends a request for minutes if nobody answers.
    is_of_azure = type(error).__module__.startswith("azure.")
    is_known = _code(error) in _EXPIRED | _UNKNOWN | _DENIED | _NO_BUCKET
    is_without = _is_without_credentials(error) and not _may_be_fetched(error)
    return is_known or is_without or is_refused or is_of_azure or isinstance(error, _FINAL) or str(error).startswith(_FORBIDDEN)


def is_denied(error: Exception) -> bool:
    """Tells whether the server refuses what these credentials ask for, as some servers do with a file that is missing."""
    is_of_type = isinstance(error, PermissionError) or str(error).startswith(_FORBIDDEN)
    return _code(error) in _DENIED or _status(error) == 403 or is_of_type


def advice(error: Exception, options: Iterable[str]) -> str:
    """Returns the remedy, as the end of a message; ``options`` are the names that the user gave."""
    code, status = _code(error), _status(error)
    if code in _EXPIRED:
        return "the credentials have expired: sign in again, or give a new token with its keys, and open the dataset again"
    if _may_be_fetched(error):
        return "the service that gives the credentials failed: try again, or give the credentials in storage_options"
    if code in _UNKNOWN or status == 401 or _is_without_credentials(error):
        return f"the server does not know the credentials: check them in {_places(options)}"
    if code in _NO_BUCKET:
        return "there is no such bucket: check its name, the endpoint and the region"
    if is_denied(error):
        return f"the server refuses these credentials: check their permissions, and {_places(options)}"
    if isinstance(error, (TypeError, ValueError)) or type(error).__name__ == "ParamValidationError":
        return f"check {_places(options)}"
    return "try again"


def _places(options: Iterable[str]) -> str:
    names = ", ".join(sorted(options))
    return f"storage_options ({names})" if names else "storage_options, of which none were given, and the environment"


def _is_without_credentials(error: BaseException) -> bool:
    return any(_OF_CREDENTIALS.search(type(link).__name__) for link in links(error))


def _may_be_fetched(error: BaseException) -> bool:
    """Tells whether credentials were not there this time only; errors of google-auth say so themselves."""
    return any(type(link).__name__ in _NOT_FETCHED or getattr(link, "retryable", False) is True for link in links(error))


def _code(error: BaseException) -> str:
    """Returns the code of the server, as errors of botocore have it; empty if there is none."""
    for link in links(error):
        response = getattr(link, "response", None)
        details = response.get("Error") if isinstance(response, Mapping) else None
        code = details.get("Code") if isinstance(details, Mapping) else None
        if isinstance(code, str):
            return code
    return ""


def _status(error: BaseException) -> int:
    statuses = (getattr(error, name, None) for name in _STATUS)
    return next((found for found in statuses if isinstance(found, int)), 0)
