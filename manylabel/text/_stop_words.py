"""The most frequent words of some languages, which say little by themselves.

Short lists of our own: articles, pronouns, prepositions, conjunctions and forms of "to
be" and "to have". They serve two ends: to be left out, and to tell languages apart.
"""

STOP_WORDS = {
    "da": """
        af alle at da de den der deres det dette dig din dog du efter eller en er et for
        fra få før han hans har havde hendes her hos hun hvad hvis hvor i ikke ind jeg
        kan kun man med meget men mig mod når nogle nu og også om op os over på selv sig
        sin skal så som til ud under var ved vi vil være været
        """,
    "de": """
        aber als am an auch auf aus bei bis das dass dem den der des die dies diese
        dieser durch ein eine einem einen einer eines er es für hat hatte haben ich ihr
        ihre im in ist ja kann kein keine man mehr mit nach nicht noch nur ob oder ohne
        sehr sein seine sich sie sind so über um und uns unter vom von vor war was wenn
        werden wie wird wir zu zum zur zwischen
        """,
    "en": """
        a about after all also an and any are as at be because been but by can could did
        do does for from had has have he her his how i if in into is it its may more no
        not of on one only or other our she so some such than that the their them then
        there these they this those through to under up was we were what when which
        while who will with would you your
        """,
    "es": """
        a al algo antes como con cual cuando de del desde donde durante e el él ella
        ellos en entre era es esa ese eso esta está este esto estos fue ha han hasta hay
        la las le les lo los más me mi muy ni no nos o otra otro para pero poco por
        porque que qué se sin sobre son su sus también te tiene todo todos tu un una uno
        y ya yo
        """,
    "fi": """
        ei eikä eivät en että he hän häneen hänen ihan itse ja jo joka jonka jos jossa
        jota jotka kanssa kaikki kuin kuinka kun kuten me mikä missä mitä mukaan mutta
        myös ne nuo nyt näin nämä oli olivat olla olleet ollut on ovat se sekä sen
        siihen siinä siitä sillä sitä tai te tuo tämä tämän tässä tätä vaan vai vain
        vaikka voi voidaan välillä
        """,
    "fr": """
        a à au aussi aux avec avoir c ce ces cet cette comme d dans de des deux du elle
        elles en entre est et été être fait il ils j je l la le les leur leurs lui m
        mais me même n ne nous on ont ou où par pas plus pour qu que qui s sa sans se
        ses si son sont sous sur tout très tu un une vous y
        """,
    "hu": """
        a ahol aki alatt által amely ami arra az azok azt be csak de ebben egy egyik én
        és ez ezek ezt fel hogy ha hanem ki kell között le legyen lehet lesz mely meg
        mert mint minden mit most ne nem nincs ő ők össze pedig s sem szerint több után
        úgy vagy van vannak volt voltak
        """,
    "it": """
        a abbia ad agli ai al alla alle anche c che chi ci come con cui da dagli dai dal
        dalla dei del della delle di dove e è ed era essere fra gli ha hanno i il in io
        l la le lo loro ma mi ne nei nel nella nelle non o per perché più quale quando
        quella quello questa questo se si sia sono su sua sul sulla suo tra tutti un una
        uno
        """,
    "nl": """
        aan al als bij dan dat de deze die dit door dus een en er geen haar had heb
        heeft het hij hoe hun ik in is je kan maar me meer men met mijn na naar niet nog
        nu of om omdat onder ons ook op over te tegen tot uit u van veel voor waar was
        wat we wel werd wordt worden ze zich zijn zo zonder zou
        """,
    "no": """
        alle at av både bare blir ble da de deg dem den der deres det dette din du eller
        en enn er et etter for fra før ha hadde han hans har henne her hun hva hvis hvor
        i ikke inn jeg kan man med meg men mot når noe noen nå og også om opp oss over
        på så seg selv sin skal som til under ut var ved vi vil være vært
        """,
    "pt": """
        a à ao aos as às até com como da das de dela dele depois do dos e é ela ele eles
        em entre era essa esse esta está este eu foi foram há isso isto já lhe mais mas
        me mesmo meu minha muito na não nas nem no nos nós o os ou para pela pelo pelos
        por qual quando que quem são se sem ser seu seus só sua suas também te tem um
        uma você
        """,
    "ro": """
        a ai al ale am ar are au această acest aceste către ce cea cei cel cu că când
        care da dar de decât din doar după ea ei el este eu fi fost iar îi în între își
        la le li lor lui mai mult nu o oricare pe pentru prin sa sale sau să se și sub
        sunt te tot un una unde unei unui vor
        """,
    "ru": """
        а без более бы был была были было быть в вам вас во вот все всего вы где да для
        до его ее ей если есть еще же за и из или им их к как когда кто ли мне может мы
        на над не него нет ни но о об он она они от по под при с со так также только том
        ты у уже что чтобы эта эти это этот я
        """,
    "sv": """
        alla att av bara blev blir de dem den denna deras dess dessa det detta dig din
        du där då efter eller en ett från för ha hade han hans har henne hennes här hon
        hur i icke in inte jag kan kunde man med mellan men mig mot mycket när någon
        något nu och om oss på sedan sig sin ska som så till under upp ut utan vad var
        vara vi vid är än över
        """,
    "tr": """
        acaba ama ancak artık aslında bana bazı belki ben bir biri biz bu buna bunu çok
        çünkü da daha de defa değil diye en eğer gibi göre hem hep her hiç için ile ise
        kadar ki kim mı mu mü nasıl ne neden nerede niçin o olan olarak oldu olduğu onu
        onun sanki şey şu siz sonra tüm var ve veya ya yani
        """,
}
