"""Transcripts of calls: captions, JSON, and text with speakers."""

from __future__ import annotations

import json

from tests.corpus.variants.base import pretty, variant

VTT = (
    "WEBVTT\nKind: captions\n\nNOTE made by hand\nand on two lines\n\n1\n00:00:01.000 --> 00:00:02.500 align:start\n<v Ann Ash>Good &amp; morning,</v>\n\n"
    "2\n00:00:02.500 --> 00:00:04.000\n<v Ann Ash>how can I help?</v>\n\n00:00:04.000 --> 00:00:05.000\n<v.loud Ben>My <b>line</b> is dead</v>\n"
)
VTT_SAID = [[("Ann Ash", "Good & morning, how can I help?"), ("Ben", "My line is dead")]]
ZOOM = "\ufeffWEBVTT\r\n\r\n1\r\n00:00:01.000 --> 00:00:02.500\r\nAnn Ash: Good morning\r\n\r\n2\r\n00:00:02.500 --> 00:00:04.000\r\nto you\r\n\r\n3\r\n00:00:04.000 --> 00:00:05.000\r\nBen: Hi\r\n"
SILENT = "WEBVTT\n\n00:01.000 --> 00:02.500\nGood morning\n\n00:02.500 --> 00:04.000\nHi\n"
SRT = "1\n00:00:01,000 --> 00:00:02,500\nAgent: Good morning\n\n2\n00:00:02,500 --> 00:00:04,000\nhow can I help?\n\n3\n00:00:04,000 --> 00:00:05,000\nCustomer: My line is dead\n\n"
SRT_DASHES = "1\n00:00:01,000 --> 00:00:02,500\n[Ann] Good morning\n\n2\n00:00:02,500 --> 00:00:04,000\n[music]\n\n3\n00:00:04,000 --> 00:00:05,000\n[Ben]: Hi\n"
CALL_SAID = [[("agent", "Good morning."), ("customer", "My line is dead")]]
TWILIO = {
    "sentences": [
        {
            "media_channel": 2,
            "sentence_index": 1,
            "start_time": "2.5",
            "end_time": "3.0",
            "transcript": "My line is dead",
            "sid": "GX2",
            "confidence": "0.9",
        },
        {
            "media_channel": 1,
            "sentence_index": 0,
            "start_time": "0.5",
            "end_time": "2.0",
            "transcript": "Good morning.",
            "sid": "GX1",
            "confidence": "0.9",
        },
    ],
    "meta": {"page": 0, "key": "sentences"},
}
GENESYS = {
    "conversationId": "c-1",
    "transcripts": [
        {
            "transcriptId": "t-1",
            "language": "en-us",
            "phrases": [
                {
                    "text": "good morning",
                    "decoratedText": "Good morning.",
                    "startTimeMs": 1000,
                    "participantPurpose": "internal",
                },
                {
                    "text": "my line is dead",
                    "decoratedText": "My line is dead",
                    "startTimeMs": 3000,
                    "participantPurpose": "external",
                },
            ],
        }
    ],
    "participants": [{"participantPurpose": "agent"}],
}
LENS = {
    "Channel": "VOICE",
    "CustomerMetadata": {"ContactId": "k-1"},
    "Participants": [
        {"ParticipantId": "p1", "ParticipantRole": "AGENT"},
        {"ParticipantId": "p2", "ParticipantRole": "CUSTOMER"},
    ],
    "Transcript": [
        {"ParticipantId": "p1", "Content": "Good morning.", "BeginOffsetMillis": 0, "Sentiment": "NEUTRAL", "Id": "1"},
        {
            "ParticipantId": "p2",
            "Content": "My line is dead",
            "BeginOffsetMillis": 900,
            "Sentiment": "NEGATIVE",
            "Id": "2",
        },
    ],
}
CONNECT_CHAT = {
    "ContactId": "k-2",
    "Transcript": [
        {
            "AbsoluteTime": "2024-05-01T10:00:00Z",
            "ContentType": "application/vnd.amazonaws.connect.event.participant.joined",
            "ParticipantRole": "CUSTOMER",
            "Type": "EVENT",
        },
        {
            "AbsoluteTime": "2024-05-01T10:01:00Z",
            "Content": "Good morning.",
            "ContentType": "text/plain",
            "ParticipantRole": "AGENT",
            "Type": "MESSAGE",
        },
        {
            "AbsoluteTime": "2024-05-01T10:02:00Z",
            "Content": "My line is dead",
            "ContentType": "text/plain",
            "ParticipantRole": "CUSTOMER",
            "Type": "MESSAGE",
        },
    ],
}
SEGMENTS = {
    "language": "en",
    "segments": [
        {"start": 0.1, "end": 1.0, "text": " Good morning.", "speaker": "SPEAKER_00"},
        {"start": 1.2, "end": 2.0, "text": " Hi", "speaker": "SPEAKER_01"},
    ],
}
BLOCKS = "Call of May 1\n\nAnn Ash  0:05\nGood morning,\nhow can I help?\n\nSpeaker 2  0:09\nMy line is dead\n\nAnn Ash  1:00:12\nOh\n"
BLOCKS_BEFORE = "00:00:05 Ann Ash\nGood morning\n\n00:00:09 Ben\nHi\n\n00:00:12 Ann Ash\nWell?\n"
LABELLED = "[00:05] Agent: Good morning\n[00:09] Caller: My line is dead\n[00:15] Agent: Oh\n"
LABELLED_AFTER = "Agent (00:05): Good morning\nCaller (00:09): My line is dead\n"
LABELLED_BEFORE = "00:00:05 - 00:00:08 Agent: Good morning\n00:00:09 - 00:00:11 Caller: My line is dead\n"

VARIANTS = [
    variant("webvtt with voices", "webvtt", VTT, VTT_SAID, file="call.vtt"),
    variant("webvtt of zoom", "webvtt", ZOOM, [[("Ann Ash", "Good morning to you"), ("Ben", "Hi")]], file="zoom.vtt"),
    variant("webvtt without speakers", "webvtt", SILENT, [[("", "Good morning"), ("", "Hi")]], file="silent.vtt"),
    variant("srt", "srt", SRT, [[("Agent", "Good morning how can I help?"), ("Customer", "My line is dead")]], file="call.srt"),
    variant("srt with brackets", "srt", SRT_DASHES, [[("Ann", "Good morning"), ("Ben", "Hi")]], file="call.srt"),
    variant("twilio sentences", "calls", pretty(TWILIO), [[("channel 1", "Good morning."), ("channel 2", "My line is dead")]], file="twilio.json"),
    variant("genesys phrases", "calls", pretty(GENESYS), CALL_SAID, file="genesys.json"),
    variant("amazon contact lens", "calls", json.dumps(LENS), CALL_SAID, file="lens.json"),
    variant("amazon connect chat", "calls", pretty(CONNECT_CHAT), [[("agent", "Good morning.", "2024-05-01T10:01:00"), ("customer", "My line is dead")]], file="connect.json"),
    variant("recogniser segments", "calls", pretty(SEGMENTS), [[("SPEAKER_00", " Good morning."), ("SPEAKER_01", " Hi")]], file="whisper.json"),
    variant("speaker blocks", "speaker-blocks", BLOCKS, [[("Ann Ash", "Good morning,\nhow can I help?"), ("Speaker 2", "My line is dead"), ("Ann Ash", "Oh")]], file="otter.txt"),
    variant("speaker blocks, time first", "speaker-blocks", BLOCKS_BEFORE, [[("Ann Ash", "Good morning"), ("Ben", "Hi"), ("Ann Ash", "Well?")]], file="call.txt"),
    variant("labelled, time in brackets", "transcript", LABELLED, [[("Agent", "Good morning"), ("Caller", "My line is dead"), ("Agent", "Oh")]], file="call.txt"),
    variant("labelled, time after the speaker", "transcript", LABELLED_AFTER, [[("Agent", "Good morning"), ("Caller", "My line is dead")]], file="call.txt"),
    variant("labelled, time span first", "transcript", LABELLED_BEFORE, [[("Agent", "Good morning"), ("Caller", "My line is dead")]], file="call.txt"),
]  # fmt: skip
