"""Salesforce: comments on cases and e-mails to cases, as data exports and reports write them."""

from __future__ import annotations

from typing import Any

from turnloom.corpus.readers.fields import AGENT, CUSTOMER
from turnloom.corpus.readers.markup import plain_text, without_quotes
from turnloom.corpus.readers.tables import VendorTable, cell_text, is_no, is_yes

_CUSTOMER_TYPES = ("portal", "success", "community", "guest", "customer", "partner")
"""In the user types of those who log in from outside: CspLitePortal, CustomerSuccess, PowerCustomerSuccess, Guest."""


def _comment(values: dict[str, Any]) -> dict[str, Any]:
    user_type = cell_text(values, "user_type").lower()
    speaker = cell_text(values, "author")
    if user_type:
        speaker = CUSTOMER if any(word in user_type for word in _CUSTOMER_TYPES) else AGENT
    left_out = is_yes(values.get("deleted")) or is_no(values.get("published"))
    return {
        "dialogue_id": cell_text(values, "case"),
        "text": "" if left_out else cell_text(values, "text"),
        "speaker": speaker,
        "time": values.get("time"),
    }


def _email(values: dict[str, Any]) -> dict[str, Any]:
    text = cell_text(values, "text") or plain_text(cell_text(values, "html"), keep_quotes=False)
    return {
        "dialogue_id": cell_text(values, "case"),
        "text": "" if is_yes(values.get("deleted")) else without_quotes(text),
        "speaker": CUSTOMER if is_yes(values.get("incoming")) else AGENT,
        "time": values.get("time"),
    }


COMMENTS = VendorTable(
    name="salesforce",
    title="Salesforce case comments",
    columns={
        "case": ("parentcasenumber", "casenumber", "parentid", "caseid"),
        "text": ("commentbody", "comments", "casecomments", "comment"),
        "author": (
            "createdbyname",
            "creatorname",
            "commentcreatedby",
            "casecommentcreatedby",
            "createdby",
            "createdbyid",
        ),
        "user_type": ("createdbyusertype", "usertype", "createdbyprofileusertype"),
        "time": ("createddate", "commentcreateddate", "casecommentcreateddate", "systemmodstamp"),
        "published": ("ispublished", "published", "public", "casecommentpublished"),
        "deleted": ("isdeleted",),
    },
    needed=("case", "text", "time", "author"),
    parse=_comment,
)
EMAILS = VendorTable(
    name="salesforce-email",
    title="Salesforce e-mail messages",
    columns={
        "case": ("parentcasenumber", "parentid", "casenumber", "relatedtoid"),
        "text": ("textbody",),
        "html": ("htmlbody",),
        "incoming": ("incoming", "isincoming"),
        "time": ("messagedate", "createddate"),
        "deleted": ("isdeleted",),
    },
    needed=("case", "text", "incoming"),
    parse=_email,
)
