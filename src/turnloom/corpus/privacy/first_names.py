"""Common first names that are no other word: they tell "Thanks, Kelly" from "Thanks, Delta"."""

from __future__ import annotations

__all__ = ["FIRST_NAMES"]

FIRST_NAMES = frozenset(
    """
    aaron abby abigail adam adrian agnes ahmed aisha alan alba albert alejandra alejandro alessandro alex alexa
    alexander alexandra alexis alfred ali alice alicia alina alison allison alyssa amanda amber amelia amélie amina
    amir amit amy ana andre andrea andreas andrés andrew andy angela angelica angie anil anita anja ann anna anne
    annette annie anthony anton antonio anya aoife arjun arthur arun ashley ashok asha astrid aubrey audrey ava
    barbara beatrice beatriz becca becky ben benjamin bernard bernd beth bethany betty bianca bjorn björn bo bob
    bobby brandon brenda brendan brent brian brianna bridget brittany brooke bruce bruno bryan caitlin caleb camila
    camilla carla carlos carmen carol caroline carolyn carrie casey catherine cathy cecilia chad chantal charles
    charlie cheryl chloe chris christian christina christine christopher cindy claire clara clarence claudia claus
    clément colin colleen connie connor courtney craig cristina crystal curtis cynthia daisuke damian damien dan
    dana daniel daniela danielle danny darius darlene darren darryl dave david deanna debbie deborah debra denis
    denise dennis derek derrick desiree deshawn diana diane diego dimitri dmitri dolores dominic dominik donald
    donna doris dorothy doug douglas duncan dustin dwayne dylan ed eddie eduardo edward edwin eileen elaine elena
    eli elias elisabeth elizabeth ella ellen emily emma enrique eric erica erik erika erin ernesto esther ethan eva
    evan evelyn fabian fatima federico felipe felix fernanda fernando fiona florian francesca francesco francis
    francisco franck françois frank franz fred frida friedrich gabriel gabriela gareth gary gavin geoff george
    gerald geraldine gerard gina giovanni giulia glenn gloria gonzalo gordon greg gregory greta guillermo gustavo
    hannah hans harold harriet harry hassan heather heidi heike helen helena henrik henry hiroshi holger howard hugo
    hussein ian ibrahim ignacio igor ilse imani ines inga ingrid irene irina isaac isabel isabella isabelle ivan
    jack jackie jacob jacqueline jaime jake jakob jamal james jamie jan jana jane janet janice jared jasmin jasmine
    jason javier jay jean jeff jeffrey jen jenna jennifer jenny jeremy jerry jesse jessica jesús jill jim jimmy
    ji-woo joan joanna joanne joao joão joel joey johan johanna johannes john johnny jon jonas jonathan jorge jose
    josé joseph josh joshua joyce juan juanita judith judy jules julia julian juliana julie julien juliette jürgen
    justin kaitlyn karen karim karin karina karl karla kasia kate katharina katherine kathleen kathryn kathy katie
    katrin katrina kayla keith kelly kelsey ken kendra kenji kenneth kenny kerry kevin khaled kim kimberly kirsten
    klaus kofi konrad kristen kristin kristina krystal kumar kurt kwame kyle lakshmi lara larry lars laura lauren
    laurie lea leah lena leo leon leonard leslie liam lillian linda lindsay lindsey lisa liz lori lorraine louis
    louise lucas lucía lucia lucy luigi luis luisa lukas luke luna lydia lynn madeleine magdalena mandy manuel marc
    marcel marcia marco marcos marcus margaret maria maría mariana marie mario marion marisa marisol marko marlene
    marta martha martin martina marvin mary mateo mathieu matt matteo matthew maureen maurice max maya megan mehmet
    mei melanie melinda melissa meredith mia michael michaela michel michele michelle miguel mike mikhail mildred
    milena miranda miriam mohamed mohammad mohammed mohit molly monica monika monique muhammad mustafa nadia nadine
    nancy naomi natalia natalie natasha nathalie nathan nathaniel neil nicholas nick nicolas nicole nikhil nikita
    nikolai nina noah nora norbert norma olga oliver olivia olivier omar oscar otto pablo pamela paolo pascal
    patricia patrick patrik paul paula pauline pavel pedro peggy penny peter petra phil philip philipp philippe
    phillip phyllis pierre piotr pooja priya priyanka rachel rafael rahul raj rajesh ralf ralph ramesh ramon raphael
    raquel raul ravi raymond rebecca regina reinhard renata rené rhonda ricardo richard rick ricky rita rob robert
    roberta roberto robin rodrigo roger roland roman ron ronald rosa rosemary ross roxanne roy ruben ruth ryan
    sabine sabrina sally sam samantha samuel sandeep sandra sandy sanjay sanne sara sarah sasha saskia scott sean
    sebastian sergei sergio seth shannon sharon shaun shawn sheila shelby shelly sherry shirley silvia simon simone
    sofia sonia sonja sonya sophia sophie stacey stacy stefan stefania stefanie stella stephan stephanie stephen
    steve steven stuart sunil suresh susan susanne suzanne svetlana sven sylvia tamara tammy tanya tara tatiana ted
    terence teresa teri terry thea theo theresa thierry thomas tiffany tim timothy tina tobias todd tom tomas tomasz
    tommy toni tony tonya tracey tracy travis trevor tricia tristan troy tyler ulrich ulrike ursula uwe valentina
    valerie vanessa vera veronica vicki vicky victor viktor vijay vincent virginie vivian vladimir walter wanda
    wayne wei wendy werner wesley wilhelm willem william wolfgang xavier yan yasmin yolanda yousef yuki yusuf yvonne
    zach zachary zara zoe zoë
    """.split()
)
