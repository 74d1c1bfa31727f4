"""Function words of several languages: they say which language a message is in, and carry no topic."""

from __future__ import annotations

import re
from collections.abc import Sequence

from turnloom.words import CJK

ENGLISH = "en"
_FUNCTION_WORDS = {
    "de": """
    aber alle als am an auch auf aus bei bin bis bitte bräuchte da danke das dass dem den denn der des die diese dieser
    dir du ein eine einem einen einer er es für gerne habe haben hallo hat hätte ich ihr im ihre ihren in ist ja kann
    kein keine können könnt könnte mal man mein meine meinem meinen meiner mich mir mit möchte möchten nach noch nun
    nur oder ohne schon sehr sein seit sich sie sind so über um und uns von vom vor wann war warum was wegen wenn wer
    werden wie wieder will wir wird wo zu zum zur
    """,
    "es": """
    a al algo alguien aún como cómo con cual cuál cuándo cuando cuánto de del desde dónde donde e el ella en eres es
    esta está están este esto favor fue gracias ha hace hacer han hasta hay he hola la las le les lo los más me mi mis
    muy necesito no nos o para pero por porque puede pueden puedo que qué quería quiero quisiera se ser si sí sin sobre
    su sus también te tengo tiene tu un una unas unos usted y ya yo
    """,
    "fr": """
    à alors après au aux avec avez bonjour c'est ce cela ces cette comment dans de depuis des du elle en est et être
    faire il j'ai je la le les leur ma mais me mes merci moi mon ne nous on ont ou où par pas peut peux plus pour
    pouvez pourquoi pourrais quand que quel quelle qui sa sans se si son sont suis sur svp ta te tu un une veux
    voudrais vos votre vous y
    """,
    "it": """
    a al alla anche avete buongiorno che chi ci ciao come con cosa da dal del della delle di dove e è favore fare gli
    grazie ha ho i il in io la le lo ma mi mia mie miei mio ne nel nella non o per perché più posso puoi può quando
    quanto questa questo se sei si sono su sul tu un una vi voglio vorrei
    """,
    "pt": """
    a ao aos as boa bom como com da das de do dos e ela ele em é essa esse esta está este eu favor fazer foi gostaria
    há isso já mais mas me meu meus minha minhas muito na não nas no nos o obrigada obrigado olá onde os ou para por
    porque posso pra preciso qual quando que quero se sem ser seu sobre sua também tem tenho um uma vocês você
    """,
    "nl": """
    aan alstublieft als bij dan dat de deze die dit een en er ga geen graag hallo heb hebben heeft het hoe hoi ik in is
    ja je jullie kan kunnen maar me meer met mij mijn moet naar niet nog nu of om ook op over te tot uit van voor waar
    waarom wanneer was wat we wel wil worden wordt zijn zou
    """,
    "tr": """
    ama ben bana beni benim bir bu çok da daha de değil ettim ederim gibi hala henüz için ile ise istiyorum kadar
    lütfen merhaba mi mı mu mü nasıl ne neden nerede niye o olarak olan olur sen siz şu teşekkürler ve veya ya
    """,
    "ru": """
    а без бы был была в вам вас во вот все вы где да для до его ее если есть еще ещё же за здравствуйте и из или к как
    какой когда куда ли меня мне могу мой моя моё мои мы на над нас не него нет но о об от по почему пожалуйста при
    спасибо с со так там то тоже у уже хочу что чтобы это этот я
    """,
    "ar": """
    أريد اريد أن ان أنا انا أين اين إلى الى التي الذي إن او أو أود بعد بي تم ثم حتى حول شكرا عن على عليه عند عندي فضلك
    في قبل قد كان كانت كم كيف لا لدي لكن لم لماذا لن له لي ليس ما متى مع مرحبا من منذ نحن هذا هذه هل هو هي و وما يا
    يمكن يمكنك يمكنني
    """,
    "hi": """
    अपना अपनी अपने अब अभी आप आपका इस उस एक और कब करना करनी करने करें कहाँ कहां का कि किया की कृपया के कैसे को कोई क्या
    क्यों गई गया चाहता चाहती चाहिए जी जो तक तो था थी थे धन्यवाद नमस्ते नहीं ने पर बहुत भी मुझे में मेरा मेरी मेरे मैं मैंने यह या ये
    रहा रही रहे लिए वह से हम हुआ हुई हूँ हूं है हैं हो
    """,
}
_CHINESE = (
    "请问|您好|你好|我们|你们|他们|我想要?|我要|可不可以|能不能|可以|怎么样?|什么时候|什么|为什么|如何|一下|一个|谢谢|麻烦|帮我|现在|这个|那个|"
    "已经|还没有?|需要|知道|多少|哪里|[的了吗呢吧啊呀哦么我你您他她它这那是在请想就都也很还和把给能会要]"
)
_KANA = "\u3041-\u3096"
_JAPANESE = rf"(?:[{_KANA}]+|私|願|致|何|教)"
_BREAKS = {
    True: re.compile(rf"[^{CJK}]+|{_JAPANESE}"),
    False: re.compile(rf"[^{CJK}]+|{_CHINESE}"),
}
_IS_JAPANESE = re.compile(f"[{_KANA}\u30a1-\u30fa]")

FUNCTION_WORDS = {language: frozenset(words.split()) for language, words in _FUNCTION_WORDS.items()}
_OTHER = frozenset(word for words in FUNCTION_WORDS.values() for word in words)


def language_of(words: Sequence[str], english: frozenset[str]) -> str:
    """Return the language that most words are function words of; English if it is as likely as another one.

    One word in Latin letters is too little to go by: "van" and "plus" are English, too.

    Args:
        words: The words of a message, in lower case.
        english: The function words of English.

    Example:
        >>> language_of("wo ist mein paket".split(), frozenset(["my", "is"]))
        'de'
    """
    others = [word for word in words if word in _OTHER]
    if not others:
        return ENGLISH
    hits = {language: sum(word in known for word in others) for language, known in FUNCTION_WORDS.items()}
    best = max(hits, key=lambda language: hits[language])
    least = 1 if any(not word.isascii() for word in others) else 2
    return best if hits[best] >= least and hits[best] > sum(word in english for word in words) else ENGLISH


def content_of_unspaced(text: str) -> list[str]:
    """Return what is left of Chinese or Japanese text without particles, pronouns and other scripts, in order.

    Example:
        >>> content_of_unspaced("我想取消我的订单"), content_of_unspaced("注文をキャンセルしたいです")
        (['取消', '订单'], ['注文', 'キャンセル'])
    """
    breaks = _BREAKS[_IS_JAPANESE.search(text) is not None]
    return [part for part in breaks.split(text) if len(part) > 1]
