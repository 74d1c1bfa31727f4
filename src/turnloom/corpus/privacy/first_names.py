"""First names of many countries that are no other word: they tell "Thanks, Kelly" from "Thanks, Delta"."""

from __future__ import annotations

__all__ = ["FIRST_NAMES", "WORDS_TOO"]

FIRST_NAMES = frozenset(
    """
    aaron abbie abby abdul abdullah abel abena abeni abigael abigail abimbola abiola adaeze adam adaobi adebayo
    adeola aditi aditya adnan adrian adwoa aferdita agata agnes agnieszka ahmed aiden aileen ailsa aimee ainhoa
    aisha aisling aiyana ajay akash akiko akin akua alan alana alanna alasdair alba albert aldo alec alejandra
    alejandrina alejandro aleksander aleksandra alessandra alessandro alessia alex alexander alexandra
    alexandre alexandru alexei alexis alfie alfonso alfred alfredo alhaji ali alice alicia alina alison alistair
    allegra allie allison aloysius alvaro alvin alya alyssa amadou amaka amal amalia amanda amara amber ambrose
    amelia amelie amina aminata amir amira amit amos amy amélie ana anabel anahi ananya anastasia anders andre
    andrea andreas andreea andrei andrew andrzej andrés andy aneta angela angelica angelika angelina angelo angie
    angus anika aniket anil anisha anita anja anjali anke ann anna anne anneke annelies annemarie annette annie
    annika anouk ansel anselm anthony antje antoine anton antonella antonia antonio anwar anya aoife aparna apinya
    araceli archie arda ariadne arianna aristide arjun arlene arlo arman armando arnaud arne arnold arthur arturo
    arun arvind asad asha ashley ashok aslan aslı asma astou astrid attila aubrey audrey auguste augustin aurelia
    aurelie ava avi axel ayaan ayan ayasha ayaz ayesha aylin ayo ayodele ayşe azadeh aziz babak babatunde badr bahar
    barbara barnaby bartek bartosz bashir bassam bastian beata beatrice beatriz becca becky bela belinda ben
    benedict benicio benita benito benjamin benny berenice bernadette bernard bernardo bernd berndt bertha bertie
    beryl beth bethany betty beyza bhavna bianca bianka bilal birgit birgitta bjorn björk björn bo bob bobby boris
    boyd brad bradley bram brandon branko brenda brendan brenna brent brian brianna bridget brigid brigitte brittany
    brody bronagh bronwen bronwyn brooke bruce bruno bryan bryn bryony burak byron caetano cagla caio caitlin caleb
    callum camila camilla camille camilo candice carl carla carlos carlotta carmela carmelo carmen carol
    carolin caroline carolyn carrie carsten casey cassandra cassie catalina catarina cathal catherina
    catherine cathleen cathy catriona cecil cecile cecilia cedric celeste celia celine cem cesar chad chantal
    chantelle charis charles charlie charlotta charlène cheryl chiamaka chiara chibuike chidi chidinma chika chike
    chinedu chinonso chinwe chioma chloe chloé chris christa christelle christina christine christoph
    christophe christopher ciara ciarán cillian cindy cinzia claire clara clarence clarissa claude claudette claudia
    claudine claudio claus clemens clement clifford clive clyde clément colette colin colleen connie connor conor
    constantin coralie cordelia corey corinna corinne cornelia cornelius cosmin courteney courtney craig cristian
    cristiano cristina cristobal crystal curtis cynthia cyril cédric céline césar dagmar dahlia daisuke daithi
    damian damien damon dan dana dandan danica daniel daniela danielle daniil danijel danny daphne darcy daria
    darius dariusz darko darlene darren darryl dave david dawid dayo deana deandre deanna debbie deborah debra
    declan deepa deepak deepika deirdre delia delphine demetrius denis denise deniz dennis denzel derek dermot
    derrick deshawn desiree desmond despina detlef devika devin dewi dhruv diana diane diarmuid didier diederik
    diego dieter dilip dimitri dinesh dionne dirk dmitri dmytro dolores domenico dominic dominik dominika dominique
    donal donald donatella donna donnie donovan doreen dorian doris doro dorota dorothea dorothy dorothée doug
    dougal dougie douglas doyle dragan drago duncan dunja dustin dušan dwayne dwight dylan eamonn ebru ed edda eddie
    edgar edie edith edmund edna eduard eduardo edward edwin efosa egon eileen eimear eirik ekaterina ekaterini
    elaina elaine eleanor eleanora elena eleni eleonora eli elias elif elijah elin elina elinor eliot elisa
    elisabeth elise eliza elizabeth elke ella ellen elliot elliott elmer elodie eloise elsa elsie elton elvira elvis
    elwood emeka emerson emil emile emilia emiliano emilie emilio emily emine emma emmanuel emmanuelle emmett emre
    enda engin enid enrique enzo eoin ephraim erhan eric erica erich erick erik erika erin ernest ernesto ernst
    errol erwin esme esmeralda esperanza esteban estefania estela estelle esther ethan etienne eugen eugene eugenia
    eun-ji eunice eva evan evangeline evelien evelina evelyn everett ewa ewan eylem ezekiel ezra fabian fabienne
    fabio fabrice fabrizio fadi faisal fanny farah farhan farid farida farouk farrah fatih fatima fatou fatoumata
    fausto federica federico felicia feliciano felicitas felipa felipe felix femi femke fenella ferdinand fergal
    fergus fernanda fernande fernando fidel filip filippo filomena finbar finlay finley finnegan fintan fiona fionn
    fionnuala flo florentina florian floris folake folasade frances francesca francesco francis francisco franck
    frank franka frankie franklin frans franz franziska françois fraser fred freddie freddy frederic frederick
    frederik freja freya frida frieda friedrich frédéric fumiko gabby gabor gabriel gabriela gail ganesh gareth
    garrett garrick gary gaurav gavin gavril gaétan gaël gemma genevieve geneviève gennaro geoff georg george
    georges georgie georgina georgios gerald geraldine gerard gerardo gerd gerda gerhard germaine gert
    gertrude ghislaine giacomo giada gianluca gianna gianni gilbert gilberto giles gilles gillian gina ginevra ginny
    giorgia giorgio giorgos giovanni gisela giselle gita gitte giulia giuliana giulio giuseppe giuseppina gladys
    glenda glenn gloria glynis gobind godfrey gonzalo goran gordana gordon graciela graeme graham grainne greg
    gregory greta gretchen gretel grigori grzegorz gráinne guadalupe gudrun guido guillaume guillermo gunnar gunther
    gurpreet gustav gustavo gwen gwendolyn gwyneth günter habib hadi hadiza hadley hafsa hakan hakeem hakim halima
    hamid hamish hamza hanif hanna hannah hannelore hans harald haris harish harold harri harriet harry harsh haruki
    haruto harvey hasan hassan hattie hayden hayley heather hector hedwig heidi heike heiko heiner heinrich heinz
    helen helena helga heloise hemant hendrik henri henrietta henriette henrik henrike henrique henry herbert
    heribert herman hermann hermine hernan hester hilal hilary hilda hildegard himari hina hiroko hiroshi hisham
    holger hollie horace horst hortense howard hsin hubert huda hugh hugo hugues humberto humphrey hussain hussein
    hye-jin hyun hyun-woo hélène iain ian ibrahim ibtisam idris ifeanyi ifeoma ignacio ignatius igor ikechukwu ikram
    ilaria ileana ilona ilse ilya iman imani imogen imran indira ines inga inge ingeborg ingrid inigo inês ioana
    ioannis iqbal irene ireneusz irfan irina irma irving isaac isabel isabella isabelle isadora isaiah isha ishaan
    isidora isidro isla ismael ismail isobel isolde israa issa itziar ivan ivana ivar ivo iwan iwona izabela jaap
    jacek jacinta jacinto jack jackie jacky jaclyn jacob jacopo jacqueline jacques jaden jadwiga jagoda jaime jake
    jakob jakov jalen jamal jameela james jamie jamila jamilah jan jana jane janek janelle janet janice janina
    janine janis janne jannik januszek jaqueline jared jarek jarmila jarvis jasmin jasmine jason jasper jaswinder
    javier jaxon jay jayden jayne jazmin jean jeanette jeanne jeannie jedediah jef jeff jeffrey jelena jelle jemima
    jen jenifer jenkins jenna jennifer jenny jens jeremy jerome jerry jerzy jess jesse jessica jessie jesús jette
    ji-woo jia jihye jill jim jimena jimmy jitka joachim joakim joan joanie joann joanna joanne joao joaquin jocelyn
    jodi jodie joel joelle joep joerg joest joey johan johanna johannah johannes john johnathan johnnie johnny
    jolanda jolanta jolene jomo jon jonas jonathan joni jonny joos jordi jorge jose josefa josefina josefine joseph
    josephine josette josh joshua josie josip josé joséphine jovan joyce joão juan juana juanita jude judi judit
    judith judy jules julia julian juliana julie julien julieta juliette julius junaid justin jutta jyoti jérôme
    jósef józef jöran jörg jörn jürg jürgen kaan kacper kadir kaia kaitlyn kaito kaja kalina kalpana kamal kamala
    kamil kamila kaori karam karel karen karim karima karin karina karine karl karla karlheinz karol karolina
    karoline karsten kasey kasia kasim kasper katarina katarzyna kate katerina kateryna katharina katherine kathi
    kathleen kathrin kathryn kathy katie katja katrin katrina katy katya kaveh kavita kaya kayla kazimierz kazuki
    kazuo keanu keeley keerthi keiko keir keisha keith kelechi kelly kelsey kemal ken kendra kenji kenna
    kenneth kenny kerem kerry kerstin kev kevan kevin khadija khaled khalid khanh kiana kiera kieran kim kimberly
    kimiko kinga kiran kirill kirsten kirstin kirsty kjell klaus koen kofi kohei koji konrad konstantin konstantinos
    kornelia krishna kristen kristian kristiina kristin kristina kristof kristoffer krystal krystyna krzysztof kumar
    kunal kunle kurt kwabena kwaku kwame kwasi kyle kyra lachlan laila laith lakisha lakshmi lalita lamar lamine
    lando lanre lara larisa larry lars lasse laszlo latasha latisha latoya laura lauren laurens laurent laurette
    laurie lavinia lawrence layla lazaro lea leah leandro leanne leela leif leigh leila leilani leire leland lemuel
    lena lenka lennart lenny leo leon leonard leonardo leonid leonie leonor leontine leopold leroy leslie leszek
    leticia levi leyla liam liana lidia liesbeth liese lieselotte lilian liliana liliane lilith lillian lilly lina
    linda lindiwe lindsay lindsey linh linnea lino linus lionel lior liora lisa lisbeth lise lissa livia liz ljubica
    lloyd lois lonnie lorena lorenz lorenzo loretta lori lorna lorraine lothar lottie louis louisa louise
    luana luc luca lucas lucia lucie lucien lucille lucinda lucius lucjan lucrezia lucy lucía ludmila ludovic ludwig
    luigi luis luisa lukas lukasz luke luna lutz lydia lyle lynda lyndon lynette lynn lynne lyra lászló
    maaike maarten mabel maciej mackenzie maddie maddison madeleine madhavi madhu mads maeve magali magda
    magdalena maggie magnus mahdi maheen mahesh mahir mahmoud maia maisie maite maja makena maksim maksym malachi
    malcolm malgorzata malia malik malin mallory malte mamadou mandeep mandla mandy manfred manish manisha manoj
    manon manuel manuela mara marc marcel marcela marcelle marcello marcelo marcia marcin marco marcos marcus marek
    maren margaret margarida margarita margaux margit margot margrit maria mariam mariama mariana mariann marianna
    marianne mariateresa maribel maricel marie marieke mariella marielle marija marijke marika marilena marilyn
    marin marine mario marion marisa marisol marit marjan marjolein marjorie marko markus marlene marlies marlon
    marsha marta marten martha marthe martijn martin martina martinho martyn maruša marvellous marvin mary maryam
    maryanne marzena maría masako masato massimo mateo mathieu mathilda mathilde mathis matias matilda matt matteo
    matthew matthias matthieu mattia mattias maud maura maureen maurice mauricio maurits maurizio mauro mavis max
    maxime maximilian maxwell maya maynard mayra mayumi małgorzata mbali meera meg megan mehdi mehmed mehmet mehul
    mehwish mei meike melanie melina melinda melisa melissa meredith meret merete merle mervyn meryem mia micah
    michael michaela michal michał michel michela michelangelo michele michelle mick mickey mieke miguel mihaela
    mihai mikael mikaela mike mikhail mikhaila mikko mikołaj milagros mildred milena millicent millie miloš milton
    miranda mireille mirela miriam mirjam mirko miro miroslav misaki mischa misha mitch mitchell mohamed mohammad
    mohammed mohit moira molly monica monika monique monserrat morag moritz morten moses moshe mostafa
    muhammad muhammed munira murat muriel musa mustafa mustapha myra myriam myrna myrtle nabil nadege nadezhda nadia
    nadine nadja nadya naeem nagore naima najma nakia nalini namrata nanami nancy nandini nanette naoko naomi naomie
    narek narges nasir nasreen natacha natalia natalie natalya natasha natasza nataša nathalia nathalie nathan
    nathaniel naveed naveen nayeli nazanin neda neelam neha neil nelly nerea nesrin neta neve nevena ngaire ngoc
    ngozi nia niall niamh nicholas nick nicola nicolas nicole nicoletta nicolette nicolás nigel nikhil nikita niko
    nikolai nikolaos nikolas nikolina nikos nils nina nino niranjan nisha nitin njeri nkechi nnamdi noa noah noel
    noelia noelle nolan nomvula nonso noor nora norbert noreen noriko norma norman nour noémie nuno nura nuria
    nyasha nyota oana obinna octavia octavio odette odile oduya oksana olaf olamide olav ole oleg oleksandr olena
    olga olha oliver olivia olivier oliwia ollie olu olufemi olumide oluwaseun omar omari omer omotola oona ophelia
    oren oriol orla orlaith orsolya orson ortrud osagie osama oscar osman ossian osvaldo oswald otilia otis ottilie
    otto ove owen oyelaran ozan pablo paddy paloma pamela pankaj paolina paolo parisa parveen pascal pascale pascual
    pasquale patricia patricio patrick patrik patrizia patrycja paul paula paulette pauli paulina pauline paulino
    paulo pavel pawel paweł payal pedra pedro peggie peggy penelope penny perla pernille perry persephone peter petr
    petra petronella petrus phil philip philipp philippe phillip phoebe phuong phyllis pia pierre pieter pietro pim
    piotr placido pooja prabhu pradeep prakash pranav prasad prashant pratik praveen prisca priscilla priti
    priya priyanka przemek pádraig quang quentin quinn quinten rabia rachael rachel rachelle radek radhika radka
    radmila radu rafael rafaela rafał rafe raffaele rafi raghav rahel rahim rahul raimund rainer raisa raizel raj
    rajan rajesh rajiv rakesh ralf ralph ralston ramesh ramiro ramon ramona ramón randall randi randy rani ranjit
    raphael raphaela raphaël raquel rashad rasheed rashid rashida rasmus ratna raul ravi ravinder rayan raymond
    raymundo rayna raúl rebeca rebecca rebekah reece reem reggie regina reginald regine reiko reiner reinhard remco
    remi remigiusz renata renate renaud renee renzo rené renée reuben reyhan reynaldo rhett rhian rhiannon rhonda
    rhys ricarda ricardo riccardo richard richie rick ricky rigoberto rihanna riitta rikke rina rishi rita ritesh
    ritu roald roan rob robb robbie robert roberta roberto robin robyn rochelle rocio roderick rodney rodolfo
    rodrigo rogelio roger rogier rohan rohit roisin roland rolando rolf romain roman romana romeo romina romy ron
    rona ronald ronan ronja ronnie rory rosa rosaleen rosalie rosalind rosalinda rosana rosanna rosario roseanne
    roselyn rosemarie rosemary rosetta rosie rosina ross roswitha rowan rowena roxana roxanne roy ruben rubén rudi
    rudolf rudy rufus rui rukhsana rukmini rumana rupal rupert russel russell ruta ruth ruthie ryan ryo ryosuke
    ryszard rémi róisín saad saanvi saara sabah sabina sabine sabrina sabrine sacha sachin sadie sadiq saeed safa
    safiya sahar sahil saida saif saima sakura salim sally salma salman salome salvador salvatore sam samantha
    samara sameer samir samira sammy samson samuel samuele sanaa sanchita sandeep sandra sandro sandy sanja sanjana
    sanjay sanna sanne santino saoirse sapna saqib sara sarah sarai saraswati sarita sascha sasha saskia saul
    saulius saverio sawyer scott sean sebastian selena selim selina selma selwyn senthil seo-yeon serafina serap
    serena serge sergei sergio serhiy sertac seth seun severin seydou shabnam shahid shahzad shaima shakira shane
    shania shanice shankar shannon shantel sharifa sharon shashi shaun shauna shawn sheena sheikh sheila shelby
    sheldon shelley shelly shen sheridan sherif sherri sherry sheryl shilpa shinji shiori shira shirin shirley
    shivani shona shreya shruti shu shweta sian sibel sibusiso siddharth sidney siegfried sifiso sigrid sigurd silas
    silje silke silvana silvester silvia silvio simeon simon simona simone simonetta simran sina sinead sinéad
    siobhan siobhán sipho sixten sizwe siân slavica slobodan sofia sofija sohail solange soledad soleil solomon
    solveig somchai sonia sonja sonya sophea sophia sophie soraya sorcha soren soumya spiros sridhar stacey
    stacie stacy stan stanislav stanisław stanley stavros stefan stefania stefanie steffen steffi stelios stella
    steph stephan stephane stephanie stephen steve steven stina stine stuart stéphane subhash sudha suhail sujata
    sukhdeep sukhi suki suleiman suleyman suman sumaya sumit sunil sunita supriya suresh susan susana susann susanna
    susanne sushil sushma susi suzan suzanne suzette suzy svein sven svenja svetlana swati sybil syed sylvain
    sylvester sylvia sylvie sylwia szymon søren tabea tabitha tadeusz tadhg tae-hyun taha taher taiwo takashi
    takeshi tallulah tamar tamara tamas tamika tammy tamsin tania tanisha tanja tanvi tanya tao tapiwa tara tarek
    tariq taro tarun tasha tasneem tatiana tatjana tatum tavish tayyip teagan ted teddy tendai teodor teodora
    teodoro terence teresa tereza teri terje terrence terri terry tessa thabo thaddeus thais thalia thandi thandiwe
    thanh thato thea thelma themba theo theodor theodora theodore theresa thibault thierry thijs thilo thom thomas
    thomasina thora thorben thorsten thulani thuy thérèse tiago tiana tiberiu tien tiffany tilly tim timo timon
    timothy tina tinashe tirza tiziana tobiah tobias toby todd todor tolga tolu tom tomas tomasso tomasz tomislav
    tommaso tommie tommy tomoko tomáš toni tony tonya topher torben torsten toshiko tracey tracie tracy trang travis
    trevor tricia trina trish tristan trixie troy trude trudy truman tuan tuomas tuva tycho tyler tyra tyrone
    uchenna uday ugo ulf ulises ulla ulrich ulrike umar umberto ursula usha usman uwe uzoma vadim vaibhav valentin
    valentina valentino valentín valeria valerie valerio valérie vandana vanessa vanja varun vasco vasile vasiliki
    vasilis vasily veikko velma venkat vera verena veronica veronika verónica vesna vianney vicente vicki vicky
    victoire victor vidya viet vijay vijaya vikas vikram viktor viktoria viktorija viliam vilma vimal vinay
    vincent vincenza vincenzo vinod violeta violetta vipul virgil virginie vishal viswanathan vitaly vittoria
    vittorio vivian viviana viviane vivien vivienne vlad vladimir vlasta volker volodymyr vuyo véronique wadim
    waleed walid walter waltraud wanda wanjiru waseem wayne wei wendy werner wesley whitney wiebke wies
    wiktor wilfred wilfried wilhelm wilhelmina wilhelmine willem william wilma winfried winnie winona winston
    wioletta wojciech wolfgang wouter wyatt xander xanthe xavi xavier xenia ximena xiomara xiu xochitl yael yahya
    yan yana yann yannick yara yasemin yash yasir yasmin yasmina yasmine yasser yassin yasuko yehuda yekaterina
    yelena yesenia yetunde yewande yigit yoana yohan yohannes yoko yolanda yolande yoram yosef yoshi yousef youssef
    yuki yulia yuliya yunus yuri yuriko yusra yusuf yuto yves yvette yvonne zac zach zachariah zachary zack zahir
    zahra zaid zaida zainab zaira zakaria zane zara zayn zbigniew zdenka zeinab zeke zelda zena zenobia zeynep zhen
    zhi ziad zikri zita zlata zoe zofia zoltan zoltán zora zoran zoë zsofia zsuzsanna zubair zuleika zuzana zuzanna
    özge łukasz
    """.split()
)
WORDS_TOO = frozenset(
    "amber art august bill carol christian chase chuck constance dawn dean drew eve faith felicity florence frank "
    "gene glen grace grant guy "
    "hazel heather holly hope hunter iris ivy jack jasmine joy june lance lily lou mark may mercy miles mo morgan "
    "nick norm olive pat "
    "patience pearl penny piper poppy ray reed rich rob robin rod rose ruby sage savannah scarlett sid sky stan sue "
    "summer sunny "
    "tess tilly trinity victor violet wade will woody".split()
)
"""First names that are words, too: names only where nothing else can be."""
