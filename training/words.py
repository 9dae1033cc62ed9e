"""Pools of words: the names, places and things of each split."""

from dataclasses import dataclass

from training.splits import Split, part

GIVEN = """
Aaron Abdul Abena Adam Adaeze Adele Aditi Adrián Agnes Ahmed Aiko Aisha Akira Alan Alba Albert Alejandra Alessandro
Alex Alfred Ali Alice Alina Amara Amelia Amina Amir Amy Ana Anders André Andrea Angela Anika Anna Anouk Anthony
Antoine Anton Arjun Arthur Astrid Aurélie Ayşe Barbara Bastian Beatrice Ben Benedikt Bianca Björn Bogdan Boris Brandon
Brenda Brian Bridget Bruno Caleb Camila Carl Carla Carmen Caroline Catherine Cécile Cem Chandra Charles Charlotte Chen
Chiara Chidi Chloé Christian Christine Claire Clara Claude Colin Connor Cristina Dagny Daniel Daniela David Dawit
Deborah Deepak Denise Derek Diana Diego Dieter Dmitri Dominik Donna Dorothy Eduardo Edward Eero Eileen Elena Eleanor
Eli Elif Elisabeth Emeka Emil Emily Emma Enrique Eric Erik Erin Esra Esther Ethan Eun Eva Evelyn Fabian Fatima Felix
Fernando Fiona Florian Frances Francesca Frank Françoise Frida Gabriel Gareth Gemma George Gerda Giorgio Giulia Gloria
Gonzalo Grace Greta Guillaume Gustav Hamza Hana Hannah Hans Haruto Harold Hassan Heather Heidi Helen Helga Henrik
Henry Hiroshi Hugo Ian Ibrahim Ida Ignacio Ilse Imani Inés Ingrid Irene Isaac Isabel Ismail Ivan Jack Jacob Jamal
James Jan Jana Jane Janet Jason Javier Jean Jennifer Jeroen Jessica Jia Joan João Joel Johanna John Jonas Jorge José
Josephine Joshua Joy Juan Judith Julia Julien Jürgen Kaito Karen Karim Katarina Keith Kenji Kerstin Kevin Khadija Kofi
Kurt Kwame Lars Laura Layla Leah Leila Lena Leon Leonie Liam Lin Linda Linh Lior Lisa Lucas Lucía Ludovic Luis Luka
Lydia Maarten Magnus Maja Malik Manon Marcel Marcus Margaret María Marie Mario Marta Martin Mary Mateo Matthew Maurice
Max Maya Mehmet Mei Melissa Mia Michael Miguel Mikael Mila Milan Mina Miriam Mohammed Monika Nadia Naomi Natalia
Nathan Neha Nia Nicole Niels Nikolai Nina Noah Noor Nora Nuno Oksana Olaf Olga Oliver Olivia Omar Oscar Otto Owen
Pablo Paolo Patricia Patrick Paul Paula Pedro Penelope Peter Petra Philip Pia Pierre Priya Quentin Rachel Rafael Rahul
Raquel Rashid Rebecca Renata René Ricardo Richard Robert Roberto Rohan Rosa Rosalind Ruth Ryan Sabine Salma Samuel
Sandra Sanjay Sara Sebastian Selin Sergei Shira Silvia Simon Sofia Søren Stefan Stella Stéphane Susan Sven Tadeusz
Takeshi Tamar Tanja Tara Tariq Thabo Thandiwe Theodora Theresa Thomas Tiago Timothy Tobias Tom Tomasz Ulrich Uma
Ursula Valentina Vera Victor Vijay Viktoria Vincent Wangari Walter Wei Wendy William Wolfgang Xavier Ximena Yael Yara
Yasmin Yuki Yusuf Zara Zdeněk Zoë Zofia
"""

FAMILY = """
Abbott Abe Abdi Acosta Adams Adeyemi Aguilar Ahmadi Akhtar Albrecht Alvarez Amadi Andersen Anderson Andersson Antonov
Aoki Arnold Arslan Asante Atkinson Aydın Bailey Baker Banerjee Barbieri Barnes Bauer Becker Bell Beltrán Benítez
Bennett Berg Bergström Bernard Bianchi Bishop Blanc Bloom Bosch Boucher Brandt Brennan Brooks Brown Bruun Burke Butler
Cabrera Campbell Cardoso Carlsen Carter Castillo Čapek Chang Chaudhry Chen Cho Christensen Clarke Cohen Colombo Conti
Cooper Cortés Costa Cruz Dahl Daly Das Davidson Davies Delacroix Demir Desai Diaz Dietrich Dixon Dubois Dufour Duncan
Dupont Eberhardt Edwards Eklund El-Amin Ellis Engel Eriksen Espinoza Evans Farouk Faulkner Fernandes Ferrari Fischer
Fitzgerald Fleming Fontaine Foster Fournier Fox Franco Fraser Friedman Fujita Fuentes Gallagher García Gardner Garnier
Gebre Gibson Girard González Gordon Graham Greco Greene Grünwald Gupta Gutiérrez Haddad Hagen Hakimi Hall Hamilton
Hansen Harper Harris Hartmann Hashimoto Hayes Henderson Herrera Hoffmann Holm Horváth Howard Huang Hughes Hussein
Ibáñez Ikeda Ito Ivanova Jackson Jacobs Jansen Jensen Jiménez Johansson Johnson Jones Joshi Juarez Kamau Kaplan
Karlsson Kaur Keller Kelly Khan Kim Kimura King Klein Knudsen Kobayashi Koch Kovač Kowalski Kozlov Kramer Krause
Krüger Kumar Kuznetsov Lambert Lang Larsen Lawson Leblanc Lee Lehmann Leroy Levine Lewis Li Lindqvist Liu Lombardi
López Lund Lynch MacDonald Maier Malhotra Mancini Marino Marsh Martin Martínez Mason Matsuda Mbeki McCarthy Mehta
Meier Mendoza Mensah Meyer Miller Mishra Mitchell Mohamed Molina Moore Morales Moreau Moretti Morgan Moser Müller
Murphy Mwangi Nair Nakamura Navarro Ndiaye Nelson Neumann Nguyen Nielsen Nilsson Novák Nowak Núñez O'Brien O'Connor
Oduya Ogawa Okafor Okonkwo Olsen Omondi Ortega Osei Østergaard Owens Pacheco Palmer Papadopoulos Park Parker Patel
Pavlov Pereira Pérez Perry Petersen Petrov Phillips Pinto Popescu Porter Powell Prescott Price Quinn Quiroga Rahman
Ramírez Rao Rasmussen Reddy Reid Reyes Ricci Richter Rivera Roberts Rodrigues Romano Romero Rosenberg Rossi Roth Roux
Ruiz Russell Saito Salazar Salvador Sanders Santos Sato Schäfer Schmidt Schneider Schröder Schwartz Shah Sharma
Shimizu Silva Simmons Singh Smith Sokolov Sørensen Soto Stewart Strand Sullivan Suzuki Svensson Takahashi Tanaka
Taylor Thapa Thompson Tran Turner Ueda Uribe Vargas Vasquez Vega Vogel Volkov Wagner Walker Wallace Walsh Wang
Watanabe Weber Weiss Werner White Wilson Winter Wójcik Wolff Wong Wright Wu Yamamoto Yang Yılmaz Young Zhang Zhou
Ziegler Zimmermann
"""

CITIES = """
Aachen, Aberdeen, Abidjan, Abuja, Accra, Adelaide, Alicante, Almería, Amman, Amsterdam, Ankara, Antwerp, Arequipa,
Athens, Atlanta, Auckland, Austin, Bamako, Baltimore, Bangalore, Bangkok, Barcelona, Basel, Bath, Beirut, Belfast,
Belgrade, Bergen, Berlin, Bern, Bilbao, Birmingham, Bogotá, Bologna, Bonn, Bordeaux, Boston, Braga, Bratislava,
Bremen, Brighton, Brisbane, Bristol, Brno, Bruges, Brussels, Bucharest, Budapest, Buenos Aires, Buffalo, Cádiz, Cairo,
Calgary, Cambridge, Canberra, Cape Town, Caracas, Cardiff, Casablanca, Charlotte, Chennai, Chicago, Christchurch,
Cincinnati, Cleveland, Cologne, Colombo, Columbus, Copenhagen, Cordoba, Cork, Cusco, Dakar, Dallas, Dar es Salaam,
Delhi, Denver, Derby, Detroit, Dhaka, Dijon, Doha, Dortmund, Dresden, Dubai, Dublin, Dundee, Durban, Düsseldorf,
Edinburgh, Eindhoven, Essen, Exeter, Florence, Frankfurt, Galway, Gdańsk, Geneva, Genoa, Ghent, Glasgow, Gothenburg,
Granada, Graz, Grenoble, Groningen, Guadalajara, Haifa, Hamburg, Hanoi, Hanover, Harare, Havana, Heidelberg, Helsinki,
Hobart, Hong Kong, Honolulu, Houston, Hyderabad, Innsbruck, Istanbul, Izmir, Jaipur, Jakarta, Johannesburg, Kampala,
Karachi, Kathmandu, Kigali, Kingston, Kolkata, Kraków, Kuala Lumpur, Kyiv, Kyoto, La Paz, Lagos, Lahore, Lausanne,
Leeds, Leicester, Leiden, Leipzig, Lille, Lima, Linz, Lisbon, Liverpool, Ljubljana, London, Los Angeles, Luanda,
Lucerne, Lusaka, Luxembourg, Lyon, Madrid, Málaga, Malmö, Manchester, Manila, Mannheim, Maputo, Marrakesh, Marseille,
Medellín, Melbourne, Memphis, Mexico City, Miami, Milan, Milwaukee, Minneapolis, Monterrey, Montevideo, Montreal,
Mumbai, Munich, Nagoya, Nairobi, Nantes, Naples, Nashville, New Orleans, New York, Newcastle, Nice, Nicosia,
Nottingham, Nuremberg, Oakland, Odense, Omaha, Oporto, Orlando, Osaka, Oslo, Ottawa, Oxford, Padua, Palermo, Panama
City, Paris, Parma, Perth, Philadelphia, Phoenix, Pisa, Pittsburgh, Plymouth, Portland, Porto Alegre, Poznań, Prague,
Pretoria, Quebec, Quito, Reykjavík, Riga, Rio de Janeiro, Rochester, Rome, Rotterdam, Sacramento, Salamanca, Salt Lake
City, Salzburg, San Antonio, San Diego, San Francisco, San José, Santiago, São Paulo, Sapporo, Sarajevo, Seattle,
Seoul, Seville, Shanghai, Sheffield, Singapore, Skopje, Sofia, Southampton, Split, Stavanger, Stockholm, Strasbourg,
Stuttgart, Sydney, Taipei, Tallinn, Tampa, Tampere, Tartu, Tbilisi, Thessaloniki, Tokyo, Toronto, Toulouse, Trieste,
Tromsø, Trondheim, Tucson, Tunis, Turin, Turku, Uppsala, Utrecht, Valencia, Valparaíso, Vancouver, Venice, Verona,
Vienna, Vilnius, Warsaw, Washington, Wellington, Winnipeg, Wrocław, York, Zagreb, Zaragoza, Zürich
"""

COUNTRIES = """
Argentina, Australia, Austria, Bangladesh, Belgium, Bolivia, Brazil, Bulgaria, Canada, Chile, China, Colombia, Costa
Rica, Croatia, Cyprus, Denmark, Ecuador, Egypt, Estonia, Ethiopia, Finland, France, Georgia, Germany, Ghana, Greece,
Hungary, Iceland, India, Indonesia, Ireland, Israel, Italy, Japan, Jordan, Kenya, Latvia, Lebanon, Lithuania,
Malaysia, Malta, Mexico, Morocco, Nepal, New Zealand, Nigeria, Norway, Pakistan, Peru, Poland, Portugal, Romania,
Rwanda, Senegal, Serbia, Slovakia, Slovenia, South Africa, South Korea, Spain, Sri Lanka, Sweden, Switzerland, Taiwan,
Tanzania, Thailand, the Netherlands, Tunisia, Turkey, Uganda, Ukraine, United Kingdom, Uruguay, USA, Vietnam, Zambia
"""

JOBS = """
accountant, actor, actuary, air traffic controller, analyst, animator, archaeologist, architect, art director,
astronomer, auditor, baker, bank clerk, barber, barista, biologist, bookkeeper, botanist, bricklayer, bus driver,
butcher, buyer, carpenter, cartographer, cashier, chef, chemist, chief executive, choreographer, civil engineer,
cleaner, clerk, coach, composer, conductor, consultant, content editor, copywriter, court reporter, crane operator,
curator, customer advisor, data analyst, data engineer, data scientist, dentist, designer, DevOps engineer, dietitian,
dispatcher, driver, economist, editor, electrician, embedded developer, engineer, estate agent, event planner, farmer,
financial controller, firefighter, fisherman, fitness trainer, flight attendant, florist, forester, front-end
developer, gardener, geologist, glazier, goldsmith, graphic designer, hairdresser, head chef, head of marketing,
historian, hotel manager, illustrator, immigration lawyer, interior designer, interpreter, journalist, judge, junior
designer, lab technician, lawyer, librarian, lifeguard, locksmith, logistics manager, machinist, marine biologist,
marketing manager, mason, mathematician, mechanic, midwife, miner, music teacher, night porter, notary, nurse, nursery
teacher, nutritionist, office manager, operations manager, optician, painter, paralegal, paramedic, pastry chef,
payroll officer, pediatrician, pharmacist, photographer, physicist, physiotherapist, pianist, pilot, plumber, police
officer, portrait painter, postman, potter, primary school teacher, producer, product manager, product owner,
professor, project manager, proofreader, psychologist, purchasing officer, QA engineer, radio host, radiographer,
receptionist, recruiter, research assistant, roofer, sailor, sales manager, school principal, sculptor, secretary,
security guard, senior accountant, senior developer, set designer, shepherd, ship captain, shop assistant, site
manager, social worker, software developer, software engineer, sommelier, sound engineer, speech therapist,
statistician, student counsellor, surgeon, surveyor, systems administrator, tailor, tax advisor, taxi driver,
technical writer, tour guide, train driver, translator, travel agent, truck driver, tutor, UX researcher,
veterinarian, violinist, waiter, watchmaker, web developer, welder, wine merchant, writer, zoologist
"""

COMPANY_WORDS = """
Acorn Acme Alder Alpine Amber Anchor Apex Arbor Arctic Ardent Argent Aster Atlas Aurora Axiom Bamboo Banner Basalt
Beacon Birch Blackwood Bluebird Bluestone Borealis Bramble Bright Bronze Cactus Cadence Canopy Canyon Cardinal Cascade
Cedar Citadel Clearwater Cobalt Comet Compass Copper Coral Corner Crescent Crystal Cypress Delta Dune Eagle Eastgate
Ember Evergreen Falcon Fern Fjord Flint Forge Foxglove Garnet Glacier Golden Granite Gravity Greenfield Halcyon Harbor
Harvest Hawthorn Hazel Helix Heron Highland Horizon Indigo Iris Ironbridge Ivory Jade Juniper Keystone Kestrel
Kingfisher Lagoon Lantern Larch Laurel Lighthouse Lilac Linden Lotus Lumen Lynx Magnolia Maple Marble Meadow Mercury
Meridian Midland Mistral Monarch Moonlight Mosaic Nebula Nimbus Nordic Northwind Nova Oakridge Oasis Obsidian Onyx
Opal Orchard Orion Osprey Otter Pacific Palisade Parallel Pebble Pelican Peregrine Phoenix Pine Pinnacle Pioneer Polar
Prairie Prism Quartz Quill Raven Redwood Ridge River Robin Rowan Saffron Sage Sandstone Sapphire Sequoia Sierra Silver
Skyline Slate Solstice Southbank Spruce Sterling Stone Summit Sunrise Swift Sycamore Terra Thistle Timber Topaz Tundra
Umbra Union Valley Vantage Verdant Vertex Violet Vista Walnut Waterford Westbrook Whitewater Willow Windmill Wren
Yarrow Zenith Zephyr
"""

TRADES = """
Analytics, Architects, Audio, Bakery, Bank, Biotech, Books, Brewing, Capital, Ceramics, Chemicals, Cloud, Coffee,
Components, Construction, Consulting, Cosmetics, Courier, Cycles, Dairy, Data, Dental, Design, Digital, Dynamics,
Education, Electric, Electronics, Energy, Engineering, Events, Farms, Film, Finance, Fitness, Foods, Freight,
Furniture, Gardens, Glass, Health, Hosting, Imports, Industries, Instruments, Insurance, Interiors, Labs, Legal,
Lighting, Logistics, Machines, Marine, Marketing, Media, Medical, Metals, Mobility, Motors, Networks, Office Supplies,
Optics, Outdoor, Packaging, Paints, Paper, Partners, Payments, Pharma, Photo, Plastics, Plumbing, Press, Printing,
Publishing, Rail, Research, Robotics, Roofing, Security, Shipping, Software, Solar, Sports, Stationery, Studio,
Supply, Systems, Tea, Telecom, Textiles, Tools, Toys, Trading, Transport, Travel, Trust, Vision, Water, Wines, Works
"""

COMPANY_ENDINGS = """
Ltd, Inc., GmbH, AG, LLC, Group, & Sons, S.A., BV, Co., PLC, Corp., Oy, AB, & Partners, International, Holding, Ltda.
"""

STREETS = """
Abbey, Acacia, Albert, Alma, Amsterdam, Ash, Bath, Beech, Bell, Bishop, Bridge, Broad, Brook, Castle, Cathedral,
Cedar, Chapel, Cherry, Chestnut, Church, Clay, Cliff, College, Cooper, Court, Crown, Dock, Eagle, East, Elm, Factory,
Fairfield, Farm, Ferry, Field, Fountain, Franklin, Front, Garden, George, Grand, Grange, Green, Grove, Hamilton,
Harbour, Hawthorn, Hickory, High, Hill, Holly, Jefferson, King, Lake, Laurel, Liberty, Lime, Lincoln, London, Long,
Madison, Main, Manor, Maple, Market, Meadow, Mill, Mission, Monroe, Mountain, New, Nelson, North, Oak, Old Mill,
Orchard, Park, Pearl, Pine, Pleasant, Poplar, Prince, Prospect, Queen, Railway, Richmond, Ridge, River, Rose,
Salisbury, School, South, Spring, Station, Sunset, Temple, Tower, Union, Valley, Victoria, Vine, Walnut, Water,
Waverley, Wellington, West, Willow, Windsor, York
"""

STREET_KINDS = "Street, Road, Avenue, Lane, Drive, Court, Place, Square, Way, Boulevard, Terrace, Close, St, Rd, Ave"
STREETS_ABROAD = """
Bahnhofstraße, Hauptstraße, Lindenallee, Schillerstraße, Gartenweg, Mozartgasse, Rue de la Paix, Rue Pasteur, Avenue
Foch, Boulevard Voltaire, Calle Mayor, Calle del Sol, Avenida de la Constitución, Via Garibaldi, Via Roma, Corso
Italia, Storgatan, Kungsgatan, Strandvejen, Nørregade, Prinsengracht, Kerkstraat, Dorpsstraat, ul. Długa, ul.
Kwiatowa, Rua Augusta, Rua das Flores, Praça da Alegria, Mannerheimintie, Karl Johans gate
"""

LANGUAGES = """
Arabic, Basque, Bengali, Bulgarian, Catalan, Croatian, Czech, Danish, Dutch, English, Estonian, Finnish, French,
German, Greek, Gujarati, Hausa, Hebrew, Hindi, Hungarian, Icelandic, Igbo, Indonesian, Irish, Italian, Japanese,
Korean, Latvian, Lithuanian, Malay, Mandarin, Nepali, Norwegian, Persian, Polish, Portuguese, Punjabi, Romanian,
Russian, Serbian, Slovak, Slovene, Spanish, Swahili, Swedish, Tagalog, Tamil, Thai, Turkish, Ukrainian, Urdu,
Vietnamese, Welsh, Yoruba, Zulu
"""

COLOURS = """
amber, apricot, aqua, ash grey, beige, black, blue, bottle green, bronze, brown, burgundy, charcoal, cobalt blue,
copper, coral, cream, crimson, dark green, emerald, forest green, gold, graphite, gray, green, indigo, ivory, khaki,
lavender, light blue, lilac, lime, magenta, maroon, midnight blue, mint, mustard, navy, ochre, olive, orange, peach,
pink, plum, purple, red, rose, ruby, rust, sand, scarlet, silver, sky blue, slate, tan, teal, turquoise, violet,
white, wine red, yellow
"""

THINGS = """
alarm clock, armchair, backpack, barbell, basket, bath towel, bed frame, bench, bicycle pump, binoculars, blanket,
blender, bookcase, bottle opener, bread knife, briefcase, broom, cable reel, cable tie, calculator, camera bag, camp
stove, candle holder, casserole dish, ceiling fan, chair, charger, chess set, chopping board, clothes rack, coat
hanger, coffee grinder, coffee machine, colander, cooler box, cordless drill, corkscrew, curtain rod, cushion, cutlery
set, desk, desk lamp, desk organiser, dinner plate, dish rack, document tray, door handle, doormat, drawing pad,
dumbbell, duvet, egg timer, electric kettle, ethernet cable, extension lead, external drive, eyeglass case, fabric
softener, file cabinet, filing box, first aid kit, flashlight, floor lamp, flower pot, foam mat, folding table,
footrest, fountain pen, frying pan, garden chair, garden hose, glue stick, hair dryer, hammer, hammock, hand cream,
hand mixer, HDMI adapter, headphones, hiking boots, hole punch, hoodie, ink cartridge, ironing board, jar, jigsaw,
juicer, key ring, keyboard, kitchen scale, ladder, label printer, laptop sleeve, laptop stand, laundry basket, lawn
mower, leather belt, lunch box, mattress, measuring tape, memory card, microphone, mirror, monitor, monitor arm, mouse
pad, mug, network switch, notebook, office chair, oven glove, padlock, paint roller, paper shredder, pencil case,
pepper mill, phone case, photo frame, picnic rug, pillow, plant stand, power bank, power strip, pressure cooker,
printer paper, projector, rain jacket, reading lamp, ring binder, router, rubber boots, rug, running shoes, salad
bowl, sandpaper, saucepan, scarf, screwdriver set, scissors, sewing kit, shelf, shoe rack, shovel, shower curtain,
sleeping bag, soap dispenser, socket set, soldering iron, speaker, spirit level, stapler, step stool, sticky notes,
storage box, suitcase, sun hat, sunglasses, table lamp, tablet, tape dispenser, teapot, tent, thermos, toaster,
toolbox, toothbrush, towel rail, travel mug, tripod, umbrella, USB hub, vacuum cleaner, vase, wall clock, wallet,
wardrobe, washing powder, waste bin, watering can, webcam, wheelbarrow, whiteboard, whiteboard marker, wind chime,
wine glass, winter coat, wireless mouse, wok, wool socks, work gloves, wrench, yoga mat
"""

THING_ADJECTIVES = """
adjustable, aluminium, antique, bamboo, black, blue, ceramic, classic, compact, cotton, deluxe, double, ergonomic,
extra-large, foldable, glass, green, handmade, heavy-duty, insulated, large, leather, lightweight, linen, magnetic,
mini, modern, oak, organic, outdoor, padded, portable, professional, rechargeable, recycled, red, reusable, round,
rustic, silent, silicone, slim, small, smart, solar, stackable, steel, travel, waterproof, white, wide, wooden
"""

NOUNS = """
access account agenda album amount anchor angle anthem apron arch archive arrow artist asset atlas badge balance bank
banner barrel basin batch battery beacon beam bench berth bin blade blend block board boiler bonus booth border bottle
box branch brand bridge bucket budget buffer builder bundle cabin cable cage camp canal candle captain card cargo
carrier case castle category cause cell centre chain chamber channel charge chart circuit claim class client climate
clinic clock cloth club coach coast code coil collar colony column comet contact contract copper corner council
counter county course cover craft crane crate creek crew crop crown cure curve cycle deadline dealer deck degree delta
depot depth desk detail device dial diet district dock domain donor door dose draft driver drum duty edge editor
effect engine entry episode error estate event exhibit expert factor farm fee feeder fence ferry fiber file filter
finish fleet floor flow flux focus folder force forest form fort frame fuel fund garden gate gauge gear glacier glaze
goal grade grain grant graph grid group guard guest guide guild habitat handle harbor harvest hatch header heater
height helper herd hinge hive holder hook host hub hull index inlet insert island item jacket journal judge jury
keeper kernel kettle key kiln kit label ladder lake lamp lane lantern layer leader league ledger lens level lever
licence lift limit line link load lobby location lodge log loop lot machine magnet manor map margin market marker mast
master match matrix measure medal medium member mentor menu meter method mill mine mirror mission mixer mode model
module monitor motif motor mount museum needle nest node notch note nozzle number object offset operator option orbit
order origin outlet oven owner packet paddle page panel parcel part partner passage patch path patron pattern peak
permit phase pier pilot pipe pitch pivot plan plant plate platform plot point pole policy pool port post pouch press
pressure prize probe profile project proof quarry quota rack radius rail ramp range rank rate ratio reactor reason
record reel region relay remark report reserve resin result reviewer ridge ring river road robot rod roof room root
rope rotor route rule sail sample scale scene scheme score screen seal season seat section sector seed sensor series
setting shaft shape share shed sheet shelf shell shift ship shop shore signal site sketch slot source span species
speed spindle sponsor spot spring stage stall stamp state station stem step stock storage stream string supplier
surface symbol system table tank target task team tenant term terminal theme thread tide tier timber title token tool
torque tower track trail trainer treaty trench trophy truck tube tunnel turbine unit valley valve vault vendor venue
vessel village voltage volume voyage wagon wall ward warden warp wave wedge weight wheel width winch window wing
winner wire yard yield zone
"""

ADJECTIVES = """
active actual additional alternate ancient annual average backup basic central chief coastal common core current daily
deep default digital direct double dry early eastern empty entry extra fast final first fixed foreign former free
fresh front full general global gross half heavy hidden high inner internal joint junior large last late left lead
light local long lower main major master maximum mean medium mid minimum minor mobile modern monthly narrow natural
net new next nominal normal northern official old open opening original outer past peak pending permanent personal
planned preferred previous primary prior private public quick random rated raw rear recent reduced regional regular
remote reserve return right royal rural safe second secondary senior shared short side silent single slow small solid
southern spare special standard starting static steady stored strong target temporary third top total trial true upper
urban usual verified visible warm weekly western wet whole wide wild winter working
"""

ONSETS = "b br c ch d dr f fl g gr h j k kl l m n p pr qu r s sh sk st t th tr v w z zh y"
VOWELS = "a e i o u ai ea io oa ei ou ae"
CODAS = "n r l s x k m nd rt th ck ll ss v t sh ng rn"

AIRLINES = """
Aegean Wings, Air Alba, Air Borea, Air Lumen, AirNordia, Alpen Air, Andes Connect, Aquila Airways, Atlantic Star,
Azura Air, Baltic Jet, BlueSky Airlines, Borealis Air, British Airways, Cascadia Air, Cirrus Airlines, Condor,
Continental Wings, Coral Airways, Delta, easyJet, Emirates, Finnair, FlyEast, FlyNorth, Gulf Star, Highland Air,
Iberia, Island Hopper, JetWest, KLM, Lufthansa, Maple Air, Meridian Airlines, Nordwind, Nova Air, Orient Jet, Pacific
Crown, Pan Meridian, Polar Air, Qantas, Red Kite Airlines, Ryanair, Sahara Air, Singapore Airlines, Skyline Jet,
SunWays, Swiss, TAP, Tasman Air, Trans Iberic, Turkish Airlines, United, Vista Air, Westwind, Zephyr Air
"""

DIAGNOSES = """
acid reflux, acute bronchitis, acute sinusitis, allergic rhinitis, anaemia, appendicitis, asthma, atopic dermatitis,
atrial fibrillation, bacterial conjunctivitis, carpal tunnel syndrome, cataract, chickenpox, chronic gastritis,
chronic kidney disease, cluster headache, concussion, contact dermatitis, COPD, Crohn's disease, deep vein thrombosis,
dengue fever, diverticulitis, ear infection, eczema, emphysema, epilepsy, fibromyalgia, food poisoning, fractured
wrist, frozen shoulder, gallstones, gastroenteritis, generalised anxiety disorder, glaucoma, gout, hay fever, heart
failure, hip dysplasia, hyperlipidaemia, hypertension, hyperthyroidism, hypothyroidism, influenza, insomnia, iron
deficiency, irritable bowel syndrome, kidney stones, laryngitis, lower back pain, Lyme disease, malaria, meniscus
tear, migraine, mild dehydration, mononucleosis, osteoarthritis, osteoporosis, otitis media, panic disorder, peptic
ulcer, plantar fasciitis, pneumonia, psoriasis, rheumatoid arthritis, rosacea, scarlet fever, sciatica, shingles,
sinus infection, sleep apnoea, sprained ankle, strep throat, tendinitis, tennis elbow, tension headache, tonsillitis,
torn ligament, type 1 diabetes, type 2 diabetes, urinary tract infection, varicose veins, vertigo, vitamin D
deficiency, whiplash, whooping cough
"""

MEDICINES = """
acyclovir, albuterol, allopurinol, alprazolam, amlodipine, amoxicillin, apixaban, aspirin, atenolol, atorvastatin,
azithromycin, baclofen, bisoprolol, budesonide, candesartan, cefuroxime, celecoxib, cetirizine, ciprofloxacin,
citalopram, clarithromycin, clopidogrel, codeine, colchicine, diazepam, diclofenac, digoxin, doxycycline, duloxetine,
enalapril, escitalopram, esomeprazole, famotidine, fexofenadine, fluconazole, fluoxetine, folic acid, furosemide,
gabapentin, glipizide, hydrochlorothiazide, hydrocortisone, ibuprofen, insulin glargine, lamotrigine, lansoprazole,
levetiracetam, levothyroxine, lisinopril, loratadine, losartan, melatonin, metformin, methotrexate, metoprolol,
mirtazapine, montelukast, naproxen, nitrofurantoin, omeprazole, ondansetron, pantoprazole, paracetamol, penicillin V,
prednisolone, pregabalin, propranolol, ramipril, rivaroxaban, rosuvastatin, salbutamol, sertraline, simvastatin,
spironolactone, sumatriptan, tamsulosin, tramadol, trazodone, valsartan, venlafaxine, verapamil, warfarin, zolpidem
"""

ALLERGENS = """
almonds, aspirin, bee stings, birch pollen, cashews, cat hair, celery, cephalosporins, chlorhexidine, codeine, cow's
milk, dog hair, dust mites, eggs, fish, gluten, grass pollen, hazelnuts, horse hair, ibuprofen, iodine, kiwi, lactose,
latex, lupin, mould, mustard, nickel, peanuts, penicillin, ragweed, sesame, shellfish, soy, strawberries, sulfa drugs,
sulfites, tree nuts, walnuts, wasp venom, wheat
"""

SKILLS = """
accounting, Agile, Airflow, Angular, Ansible, AutoCAD, AWS, Azure, bookkeeping, C++, cloud security, copywriting, CSS,
customer service, data modelling, Django, Docker, Excel, Figma, financial modelling, first aid, forklift driving, Go,
Google Analytics, GraphQL, HTML, Illustrator, Java, JavaScript, Jira, Kafka, Kotlin, Kubernetes, Linux, machine
learning, MATLAB, negotiation, Node.js, Pandas, Photoshop, PHP, PostgreSQL, Power BI, project planning, public
speaking, Python, PyTorch, R, React, Redis, Ruby, Rust, Salesforce, SAP, Scala, Scrum, SEO, SolidWorks, Spark, SQL,
Swift, Tableau, team leadership, technical drawing, Terraform, TypeScript, user research, video editing, Vue, welding
"""

HOBBIES = """
archery, astronomy, badminton, baking, beekeeping, birdwatching, board games, bouldering, calligraphy, camping,
canoeing, ceramics, chess, choir singing, climbing, cooking, cricket, crochet, cycling, drawing, fencing, fishing,
football, gardening, golf, hiking, horse riding, ice skating, jazz, judo, juggling, karate, kayaking, knitting,
landscape photography, model trains, mountain biking, opera, origami, painting, photography, playing the cello,
pottery, reading, rowing, running, sailing, salsa dancing, sewing, skateboarding, skiing, stamp collecting, surfing,
swimming, table tennis, tango, tennis, theatre, volleyball, woodworking, yoga
"""

DEPARTMENTS = """
Accounting, Administration, Analytics, Business Development, Cardiology, Communications, Compliance, Customer Care,
Customer Success, Data Science, Design, Engineering, Events, Facilities, Finance, Human Resources, Infrastructure,
Internal Audit, Investor Relations, IT Support, Legal, Logistics, Maintenance, Marketing, Neurology, Operations,
Oncology, Payroll, People Operations, Platform, Procurement, Product, Production, Public Relations, Purchasing,
Quality Assurance, Radiology, Research, Research and Development, Sales, Security, Supply Chain, Tax, Training,
Treasury, Warehouse
"""

TOPICS = """
annual review, art fair, beer tasting, board meeting, book club, budget planning, budget review, career fair, charity
run, chess tournament, choir concert, city marathon, coding bootcamp, company picnic, contract negotiation, craft
market, customer interview, data conference, design critique, design review, dinner gala, drawing class, exhibition
opening, farewell party, film night, first aid course, flea market, food festival, garden show, harvest festival,
hiring sync, incident review, jazz evening, kick-off, language exchange, lantern parade, launch party, marketing sync,
open day, photo walk, piano recital, poetry reading, pottery workshop, press briefing, product demo, product launch,
project kickoff, quarterly planning, quiz night, research seminar, retrospective, roadmap workshop, robotics meetup,
safety training, sales conference, science fair, security audit, sprint planning, sprint review, startup pitch night,
staff meeting, strategy day, street food market, summer concert, supplier call, tech summit, town hall, trade fair,
wedding reception, wine tasting, winter gala, yoga retreat
"""

VENUES = """
Assembly Rooms, Arena, Botanical Garden, City Hall, Civic Centre, Club House, Community Centre, Concert Hall,
Conference Centre, Convention Center, Cultural Centre, Exhibition Hall, Forum, Gallery, Grand Hotel, Guildhall,
Library, Lecture Hall, Museum, Opera House, Palace, Park Pavilion, Playhouse, Sports Hall, Stadium, Theatre, Town
Hall, University Hall
"""

ROOMS = """
Room 4, Room 12B, Room 301, Meeting Room A, Meeting Room C, the Blue Room, the Green Room, Conference Room 2,
Boardroom, the main boardroom, Studio 3, Lab 7, Room 2.14, the Orchid Room, Auditorium B, the library, Huddle Space 5,
the Atrium, Seminar Room 8, the Fishbowl, Building C lobby, Floor 6 lounge, the Newton Room, Hall 9
"""

GENRES = """
action, adventure, animation, biography, comedy, coming-of-age, crime, crime fiction, documentary, drama, fantasy,
film noir, gothic, historical drama, historical fiction, horror, magical realism, memoir, musical, mystery, poetry,
political thriller, psychological thriller, road movie, romance, romantic comedy, satire, science fiction, short
stories, sports drama, spy thriller, superhero, supernatural horror, thriller, travel writing, war, western, young
adult
"""

AMENITIES = """
air conditioning, balcony, bike storage, built-in wardrobes, carport, cellar, central heating, dishwasher, double
glazing, elevator, fireplace, fitted kitchen, floor heating, garage, garden, guest toilet, gym, heat pump, home
office, lift, loft, parking space, pantry, patio, playground, pool, roof terrace, sauna, sea view, solar panels,
storage room, terrace, underfloor heating, walk-in closet, washing machine, wine cellar, winter garden
"""

DISHES = """
apple crumble, aubergine curry, banana bread, bean chili, beef goulash, beetroot soup, blueberry muffins, butter
chicken, carrot cake, cauliflower gratin, cheese fondue, chicken pie, chickpea stew, cinnamon rolls, coconut rice,
corn chowder, fish tacos, focaccia, garlic noodles, gnocchi, granola, leek quiche, lemon tart, lentil soup, mushroom
risotto, onion soup, pad thai, pancakes, pea soup, plum dumplings, potato salad, pumpkin soup, ratatouille, rice
pudding, roast lamb, saffron paella, salmon teriyaki, shakshuka, spinach lasagne, stuffed peppers, tomato galette,
vegetable stir-fry, walnut brownies
"""

INGREDIENTS = """
almonds, apples, aubergine, baking powder, basil, bay leaves, butter, carrots, celery, chickpeas, chili flakes,
cinnamon, coconut milk, coriander, cream, cumin, eggs, feta, flour, garlic, ginger, honey, leeks, lemon juice,
lentils, milk, mushrooms, mustard, nutmeg, olive oil, onions, oregano, paprika, parsley, pasta, peas, pepper,
potatoes, raisins, red lentils, rice, saffron, salt, soy sauce, spinach, stock, sugar, thyme, tomato paste, tomatoes,
vanilla, vinegar, walnuts, yeast, yoghurt
"""

VEHICLES = """
Alfa Romeo Giulia, Audi A3, Audi Q5, BMW 320d, BMW X1, Citroën C4, Dacia Duster, Fiat 500, Fiat Panda, Ford Fiesta,
Ford Focus, Ford Transit, Honda Civic, Honda Jazz, Hyundai i30, Hyundai Tucson, Jaguar XE, Jeep Renegade, Kia Ceed,
Kia Niro, Land Rover Defender, Lexus NX, Mazda 3, Mazda MX-5, Mercedes A180, Mini Cooper, Mitsubishi Outlander, Nissan
Leaf, Nissan Qashqai, Opel Astra, Opel Corsa, Peugeot 208, Peugeot 3008, Porsche Macan, Renault Clio, Renault Megane,
Seat Ibiza, Seat Leon, Skoda Fabia, Skoda Octavia, Subaru Forester, Suzuki Swift, Tesla Model 3, Toyota Corolla,
Toyota Yaris, Volkswagen Golf, Volkswagen Passat, Volkswagen Polo, Volvo V60, Volvo XC40
"""


def by_comma(text: str) -> tuple[str, ...]:
    """Return the entries of a list that is written with commas over several lines."""
    return tuple(" ".join(entry.split()) for entry in text.split(",") if entry.strip())


SHORT = {
    "number": "no", "quantity": "qty", "amount": "amt", "date": "dt", "address": "addr", "department": "dept",
    "temperature": "temp", "maximum": "max", "minimum": "min", "reference": "ref", "account": "acct", "weight": "wt",
    "description": "desc", "telephone": "tel", "company": "co", "average": "avg", "location": "loc", "manager": "mgr",
    "organisation": "org", "registration": "reg", "customer": "cust", "employee": "emp", "phone": "ph", "hours": "hrs",
    "percent": "pct", "minutes": "mins", "square": "sq", "apartment": "apt", "building": "bldg", "appointment": "appt",
    "received": "recd", "invoice": "inv", "payment": "pmt", "balance": "bal", "estimated": "est", "previous": "prev",
    "current": "curr", "document": "doc", "information": "info", "message": "msg", "category": "cat", "year": "yr",
    "height": "ht", "length": "len", "vehicle": "veh", "assistant": "asst", "university": "univ", "delivery": "del",
    "experience": "exp", "position": "pos", "language": "lang", "birth": "b", "expiry": "exp", "transaction": "txn",
    "participants": "pax", "guests": "pax", "price": "pr", "package": "pkg", "service": "svc", "mobile": "mob",
    "identification": "id", "reservation": "res", "confirmation": "conf", "street": "str", "volume": "vol",
    "approximate": "approx", "including": "incl", "additional": "addl",
}  # fmt: skip
"""Abbreviations, in forms and in the names of fields."""


@dataclass(frozen=True, slots=True)
class Pools:
    """The words of one split."""

    given: tuple[str, ...]
    family: tuple[str, ...]
    cities: tuple[str, ...]
    countries: tuple[str, ...]
    jobs: tuple[str, ...]
    company_words: tuple[str, ...]
    trades: tuple[str, ...]
    streets: tuple[str, ...]
    streets_abroad: tuple[str, ...]
    languages: tuple[str, ...]
    colours: tuple[str, ...]
    things: tuple[str, ...]
    thing_adjectives: tuple[str, ...]
    nouns: tuple[str, ...]
    adjectives: tuple[str, ...]
    onsets: tuple[str, ...]
    airlines: tuple[str, ...]
    diagnoses: tuple[str, ...]
    medicines: tuple[str, ...]
    allergens: tuple[str, ...]
    skills: tuple[str, ...]
    hobbies: tuple[str, ...]
    departments: tuple[str, ...]
    topics: tuple[str, ...]
    venues: tuple[str, ...]
    rooms: tuple[str, ...]
    genres: tuple[str, ...]
    amenities: tuple[str, ...]
    dishes: tuple[str, ...]
    ingredients: tuple[str, ...]
    vehicles: tuple[str, ...]


def _pools(split: Split) -> Pools:
    return Pools(
        given=part(GIVEN.split(), split),
        family=part(FAMILY.split(), split),
        cities=part(by_comma(CITIES), split),
        countries=part(by_comma(COUNTRIES), split),
        jobs=part(by_comma(JOBS), split),
        company_words=part(COMPANY_WORDS.split(), split),
        trades=part(by_comma(TRADES), split),
        streets=part(by_comma(STREETS), split),
        streets_abroad=part(by_comma(STREETS_ABROAD), split),
        languages=part(by_comma(LANGUAGES), split),
        colours=part(by_comma(COLOURS), split),
        things=part(by_comma(THINGS), split),
        thing_adjectives=part(by_comma(THING_ADJECTIVES), split),
        nouns=part(NOUNS.split(), split),
        adjectives=part(ADJECTIVES.split(), split),
        onsets=part(ONSETS.split(), split),
        airlines=part(by_comma(AIRLINES), split),
        diagnoses=part(by_comma(DIAGNOSES), split),
        medicines=part(by_comma(MEDICINES), split),
        allergens=part(by_comma(ALLERGENS), split),
        skills=part(by_comma(SKILLS), split),
        hobbies=part(by_comma(HOBBIES), split),
        departments=part(by_comma(DEPARTMENTS), split),
        topics=part(by_comma(TOPICS), split),
        venues=part(by_comma(VENUES), split),
        rooms=part(by_comma(ROOMS), split),
        genres=part(by_comma(GENRES), split),
        amenities=part(by_comma(AMENITIES), split),
        dishes=part(by_comma(DISHES), split),
        ingredients=part(by_comma(INGREDIENTS), split),
        vehicles=part(by_comma(VEHICLES), split),
    )


POOLS: dict[Split, Pools] = {"train": _pools("train"), "phrasings": _pools("phrasings"), "kinds": _pools("kinds")}
