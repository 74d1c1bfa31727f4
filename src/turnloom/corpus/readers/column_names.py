"""The column names by which a table's fields are recognised, in ten languages."""

from __future__ import annotations

import unicodedata

from turnloom.words import is_unspaced

__all__ = ["column_names", "folded_name"]

_NAMES = """
dialogue_id: dialogue_id conversation_id conv_id conversation dialog_id dialogue thread_id session_id ticket_id conv
dialogue_id: ticket_number ticket case_id case_number
text: text message body utterance content msg message_text comment_body message_body plain_body body_plain text_body
text: body_text comment_text plain_text comment
speaker: speaker role author sender from who user_type participant author_role
turn: turn turn_id turn_index turn_number message_index position index seq
time: time timestamp ts created_at date datetime sent_at created
intent: intent
language: language lang

dialogue_id: gesprächs_id gespräch gespraech konversation unterhaltung sitzung
text: nachricht inhalt mitteilung nachrichtentext
speaker: absender sprecher verfasser von rolle
time: zeit datum zeitstempel zeitpunkt uhrzeit gesendet_am
language: sprache
intent: absicht anliegen

dialogue_id: id_conversación conversación conversacion id_de_conversación diálogo hilo sesión
text: mensaje texto contenido mensaje_de_texto
speaker: remitente autor hablante emisor rol
time: fecha hora fecha_y_hora fecha_hora marca_de_tiempo enviado
language: idioma
intent: intención intencion

dialogue_id: id_conversation échange discussion
text: texte contenu
speaker: expéditeur expediteur auteur locuteur émetteur rôle
time: heure horodatage date_et_heure envoyé_le
language: langue
intent: intention

dialogue_id: id_conversazione conversazione dialogo sessione
text: messaggio testo contenuto
speaker: mittente autore parlante ruolo
time: ora orario data_e_ora data_ora
language: lingua

dialogue_id: id_da_conversa conversa id_conversa diálogo sessão atendimento
text: mensagem conteúdo conteudo
speaker: remetente falante papel
time: data_e_hora data_hora horário horario enviado_em

dialogue_id: 对话id 会话id 对话编号 会话编号 会话 对话 聊天id 對話id 會話id
text: 消息 内容 文本 消息内容 聊天内容 訊息 內容
speaker: 发送者 发送人 角色 说话人 发言人 发件人 發送者
turn: 轮次 序号
time: 时间 日期 发送时间 时间戳 時間
language: 语言
intent: 意图

dialogue_id: 会話id 対話id 会話 対話 スレッドid チャットid
text: メッセージ 本文 テキスト 発話 発言
speaker: 話者 送信者 発言者 差出人 ロール
time: 日時 時刻 送信日時 送信時刻
language: 言語
intent: 意図

dialogue_id: معرف_المحادثة رقم_المحادثة المحادثة معرف_الجلسة
text: الرسالة النص نص_الرسالة المحتوى رسالة نص
speaker: المرسل المتحدث الدور مرسل
time: الوقت التاريخ وقت_الإرسال التاريخ_والوقت
language: اللغة
intent: النية القصد

dialogue_id: बातचीत_आईडी वार्तालाप_आईडी संवाद_आईडी बातचीत वार्तालाप संवाद
text: संदेश सन्देश पाठ टेक्स्ट मैसेज
speaker: प्रेषक वक्ता भेजने_वाला भूमिका
time: समय तारीख दिनांक
language: भाषा
intent: इरादा

dialogue_id: id_диалога диалог id_разговора разговор беседа
text: сообщение текст текст_сообщения
speaker: отправитель автор роль говорящий от
time: время дата дата_и_время отправлено
language: язык
intent: намерение
"""
"""English first: a table with names in several languages is read by them. Then German, Spanish, French, Italian,
Portuguese, Chinese, Japanese, Arabic, Hindi and Russian."""


_PUNCTUATION = str.maketrans(dict.fromkeys("-()[]/:.#", " "))


def folded_name(name: str) -> str:
    """Return a column's name as it is compared: in lower case, with underscores between words, without punctuation.

    Example:
        >>> folded_name(" Conversation ID "), folded_name("Gesprächs-ID"), folded_name("Body (plain)")
        ('conversation_id', 'gesprächs_id', 'body_plain')
        >>> folded_name("对话 ID")
        '对话id'
    """
    folded = "_".join(unicodedata.normalize("NFKC", name).lower().translate(_PUNCTUATION).split())
    return folded.replace("_", "") if is_unspaced(folded) else folded


def column_names() -> dict[str, list[str]]:
    """Return the names recognised for each field, the most usual first."""
    names: dict[str, list[str]] = {}
    for line in _NAMES.strip().splitlines():
        field, _, known = line.partition(":")
        if known:
            names.setdefault(field, []).extend(folded_name(name) for name in known.split())
    return names
