/* stop_words.c: the most common words of some languages (articles, pronouns, prepositions, conjunctions, auxiliary
 * verbs), as the segmenter returns them: one word each, normalised by NFKC_Casefold, which makes ß ss. A list is part
 * of every recipe that names its language, so it never changes; a better list would have another language code. */
#include "libidx/text/stop_words.h"

#include <string.h>

static const struct language {
    const char *code;
    const char *words; /* one after the other, separated by single spaces */
} known_languages[] = {
    {"de",
     "aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da dabei "
     "damit dann das dass dein deine dem den denn der des dessen deren die dies diese diesem diesen dieser dieses "
     "doch dort du durch ein eine einem einen einer eines er es etwas euch euer für gegen hab habe haben hat hatte "
     "hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder "
     "jedes jene jetzt kann kein keine keinem keinen keiner können könnte man mehr mein meine mich mir mit muss "
     "müssen nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so "
     "soll sollen sollte sondern sonst über um und uns unser unsere unter viel vom von vor war waren was weil welche "
     "welchem welchen welcher welches wenn wer werde werden wie wieder will wir wird wirst wo wollen worden wurde "
     "wurden während zu zum zur zwar zwischen"},
    {"en",
     "a about above after again against all also am an and any are aren't as at be because been before being below "
     "between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each "
     "few for from further had hadn't has hasn't have haven't having he he's her here hers herself him himself his "
     "how i i'll i'm i've if in into is isn't it it's its itself just let's may me might more most must my myself no "
     "nor not now of off on once only or other our ours ourselves out over own same shall she she's should "
     "shouldn't so some such than that that's the their theirs them themselves then there there's these they "
     "they're this those through to too under until up upon us very was wasn't we we're were weren't what when "
     "where which while who whom whose why will with within without won't would wouldn't you you're your yours "
     "yourself yourselves"},
    {"es",
     "a al algo algunas algunos ante antes aquel aquella aquellas aquellos así aunque cada como con contra cual "
     "cuales cualquier cuando de del desde donde dos durante e el él ella ellas ellos en entre era eran es esa esas "
     "ese eso esos esta está estaba estado están estar estas este esto estos fue fueron ha había han hasta hay he la "
     "las le les lo los más me mi mientras mis mucho muchos muy nada ni no nos nosotros nuestra nuestro nunca o os "
     "otra otras otro otros para pero poco por porque pues que qué quien quienes se sea según ser será si sí sido "
     "siempre sin sino sobre son su sus también tan tanto te tengo ti tiene tienen toda todas todo todos tu tus un "
     "una unas uno unos usted ustedes vosotros y ya yo"},
    {"fr",
     "à afin ai ainsi alors après as au aucun aucune aussi autre autres aux avait avant avec avez avoir avons bien "
     "c'est car ce ceci cela celle celles celui ces cet cette ceux chaque chez comme d'un d'une dans de déjà depuis "
     "des deux donc dont du elle elles en encore entre es est et étaient était étant été être eu fait fut il ils je "
     "jusque l'on la là le les leur leurs lors lorsque lui ma mais me même mêmes mes moi moins mon n'est ne ni nos "
     "notre nous on ont ou où par parce pas pendant peu peut plus pour pourquoi qu'il qu'elle qu'on quand que quel "
     "quelle quelles quels qui quoi sa sans se sera ses si sinon soi soit sommes son sont sous suis sur ta te tes "
     "toi ton tous tout toute toutes très trop tu un une vers voici voilà vos votre vous y"},
    {"it",
     "a ad agli ai al alcuni alla alle allo allora altra altre altri altro anche ancora avere aveva avevano c'è che "
     "chi ci ciò col come con contro cui d'un da dagli dai dal dalla dalle dallo degli dei del della delle dello di "
     "dopo dove due e è ed era erano essere essi esso fa fino fra fu già gli ha hai hanno ho i il in io l'altro la le "
     "lei li lo loro lui ma me mentre mi mia mie miei mio molto ne negli nei nel nella nelle nello noi non nostra "
     "nostro o ogni oltre oppure per perché perciò però più poi prima qual quale quali quando quanto quella quelle "
     "quelli quello questa queste questi questo qui quindi sarà se sé sei sempre senza si sia siamo siano siete "
     "solo sono sopra sotto sta stata stati stato su sua sue sugli sui sul sulla sulle sullo suo suoi tra tu tua tuo "
     "tutta tutte tutti tutto un un'altra una uno vi voi"},
    {"nl",
     "aan al alle alleen als altijd andere ben bent bij daar dan dat de deze die dit doch door dus echter een en er "
     "ge geen had hadden haar heb hebben hebt heeft hem hen het hier hij hoe hun iemand iets ik in is ja je jij "
     "jou jouw jullie kan konden kon kunnen maar me meer men met mij mijn moest moet moeten na naar niet niets nog "
     "nu of om omdat onder ons onze ook op over reeds sinds te tegen toch toen tot tussen u uit uw van veel vele "
     "voor waar waren was wat we wel welke werd werden wie wij wil worden wordt ze zeer zelf zich zij zijn zo "
     "zoals zonder zou zouden zullen"},
    {"pt",
     "a à ainda além algumas alguns ao aos após aquela aquelas aquele aqueles aquilo as às assim até cada com como "
     "contra da das de dela delas dele deles depois desde dessa desse desta deste do dois dos durante e é ela elas "
     "ele eles em entre era eram essa essas esse esses esta está estão estar estas estava este estes eu foi foram "
     "há isso isto já lhe lhes mais mas me mesma mesmo meu meus minha minhas muito muitos na não nas nem nenhum "
     "nessa nesse nesta neste no nos nós nossa nosso num numa o onde os ou outra outras outro outros para pela pelas "
     "pelo pelos pode pois por porque porém qual quais quando quanto que quem são se seja sem sempre ser será seu "
     "seus si sido sob sobre sua suas também tão te tem têm ter teu teve tinha toda todas todo todos tu tua tudo um "
     "uma umas uns você vocês vos"},
    {"ru",
     "а без более бы был была были было быть в вам вас весь во вот все всё всего всех вы где да даже для до его ее её "
     "если есть еще ещё же за здесь и из или им их к как какая какой когда кто ли либо лишь между меня мне много "
     "может можно мой моя мы на над надо нам нас наш не него нее неё нет ни никто них но ну о об однако он она они "
     "оно от очень по под после потому почти при про раз с сам свой своя себе себя со так также такой там тебя тем "
     "то тогда того тоже той только том тот ту ты у уже хотя чего чем через что чтобы эта эти это этого этой этом "
     "этот эту я"},
    {"zh", "的 了 和 是 在 我 有 他 她 它 这 那 不 就 都 也 而 及 与 或 但 被 把 从 对 对于 以 为 为了 因为 所以 如果 "
           "但是 可以 我们 他们 你们 你 们 个 一个 着 过 吗 呢 吧 啊 会 能 要 将 于 之 其 并 并且 还 很 到 上 中 下 "
           "的话 这个 那个 这些 那些 没有 不是 就是"},
};
enum { LANGUAGES = sizeof known_languages / sizeof *known_languages };

uint32_t idxt_stop_language_bit(const char *code, size_t length) {
    for (unsigned i = 0; i < LANGUAGES; i++) {
        if (length == strlen(known_languages[i].code) && memcmp(code, known_languages[i].code, length) == 0)
            return UINT32_C(1) << i;
    }
    return 0;
}

const char *idxt_stop_language_code(uint32_t language) { return known_languages[__builtin_ctz(language)].code; }

/* Adds the words of a list, which single spaces separate, to a set. Returns false if memory runs out. */
static bool add_words(struct idxt_words *words, const char *list) {
    for (size_t length; *list != '\0'; list += length + (list[length] == ' ')) { /* skips the space, if any */
        length = strcspn(list, " ");
        char *bytes = idxt_words_reserve_bytes(words, length);
        if (bytes == NULL) return false;
        memcpy(bytes, list, length);
        if (!idxt_words_count_reserved(words, length, 0)) return false;
    }
    return true;
}

bool idxt_fill_stop_words(struct idxt_words *words, uint32_t languages) {
    bool ok = idxt_words_begin(words);
    for (unsigned i = 0; i < LANGUAGES && ok; i++) {
        if ((languages >> i & 1) != 0) ok = add_words(words, known_languages[i].words);
    }
    return ok;
}
