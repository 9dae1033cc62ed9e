"""The kinds of record, in the notation of `training.kind`; those of `UNSEEN` never occur in training."""

# ruff: noqa: E501  one line for one thing

from training.attributes import attribute_lines
from training.kind import Kind, add_rows, several_kinds

add_rows("""
items: {1} {0} at {2} each;; {1} × {0} ({2});; {0}, {1} pcs, {2} apiece;; {0} for {2} ({1} units);; {1}x {0} @ {2};; {0}: {1} at {2}
description, item, product, article | product
quantity, qty, ~count | int 1 40
unit price, price each, ~price | money 1 400

medications: {0} {1};; {0} at {1};; {1} of {0};; {0} ({1});; {0} – {1}
name, medicine, drug | pool medicines
dose, dosage, strength | code %0 mg, %00 mg, %.# mg, % ml, %% mg

ingredients: {1} of {0};; {1} {0};; {0} ({1});; {0}: {1};; {0}, {1}
name, ingredient | pool ingredients
amount, quantity | code %00 g, % cups, % tbsp, %0 ml, % tsp, %% g

tasks: {1} will {0} by {2};; {0} ({1}, by {2});; {0}: {1}, {2};; {1} is to {0} before {2};; {2}: {1} to {0}
task, action, what | errand
owner, assignee, who | person
due date, deadline, ~by | date 1 90

legs: {0} to {1} on {2};; from {0} to {1} ({2});; {2}: {0} – {1};; {0} → {1}, {2};; {2} from {0} to {1}
origin, from city, departure city | place
destination, to city, arrival city | place
date, day, travel date | date 1 200

players: {0} ({1} points);; {0} with {1} points;; {0}: {1};; {1} points for {0};; {0} {1}
name, player | person
points, score | int 1 60

readings: {1} at {0};; {0}: {1};; {0} – {1};; {1} ({0});; at {0} it showed {1}
time, ~at | time
value, reading | num 1 90 1

chapters: {0} (p. {1});; {0}, page {1};; {1}: {0};; {0} ... {1};; {0} on page {1}
title, heading | work
page, first page | int 3 400

guests: {0} from {1};; {0} ({1});; {0}, {1};; {1}: {0};; {0} of {1}
name, guest | person
city, town, home | place

jobs: {0} at {1} since {2};; {0}, {1} ({2});; {1}: {0} from {2};; {2}: {0} with {1};; from {2} {0} at {1}
position, title, role | pool jobs
employer, company | org
since, start year, ~from | year 1985 2024
""")

_KNOWN = """
person, man, woman; person; people, persons, contacts
*name, full name | person
@occupation @employer @residence @age @birthday @birthplace @email @phone_number @nationality @languages @hobbies
@spouse @number_of_children @marital_status @smoker @driving_licence @vegetarian @degree @address @nickname @postal_code
= {name} ({age}) lives in {residence}
= {name}, {a occupation} from {residence}, turned {age} this year
= {name} is {a occupation} at {employer}
= born in {birthplace} on {birthday}, {name} now lives in {residence}
= {name}, {age}, works as {a occupation} in {residence}
= {name} works as {a occupation} for {employer} in {residence}
= {name} is {age}, {a occupation} from {residence}
= meet {name}, {a occupation} at {employer}
= {name} is {age} years old and comes from {birthplace}
= {name} of {employer}: {email}, {phone number}
= {name}, {address}, {postal code} {residence}
= write to {name}, {address}, {residence}
= {name} and {spouse} live in {residence} with {number of children}

employee, colleague; person; employees, staff, team members
*name, employee name, full name | person
@occupation @department @manager @salary @start_date @email @phone_number @years_of_experience @skills @previous_employer
employee number, personnel number, staff ID | code ######, E-####, P#####
contract, ~employed | choice | permanent: has a permanent contract; is employed for good / temporary: is only here for a limited time; has a temporary contract / freelance: works on a freelance basis; sends invoices as a freelancer
remote, ~works from home | flag | yes: works from home; never comes to the office; is fully remote; ^work from anywhere; ^home office all week; ^fully remote / no: works on site; comes to the office every day; ^at the office every day; ^no home office; ^on site only | whether the person works from home
hours per week, weekly hours | int 8 45 hours | works {v} a week; does {v} a week; is down for {v} a week
= {employee number}: {name}, {department}
= {name} works as {a occupation} in {department} under {manager}
= {name} joined us as {a occupation} on {start date}
= our {occupation} {name} answers to {manager}
= {name} started as {a occupation} at our office on {start date}
= {manager} leads {department}, where {name} works
= contact {name} ({department}) at {email}

job applicant, candidate; person; applicants, candidates
*name, candidate name, applicant | person
@skills @degree @residence @email @phone_number @years_of_experience @languages @previous_employer
position applied for, desired position, role | pool jobs | applied for the job of {v}; wants to become {a}; would like to be hired as {a}
expected salary, salary expectation | money 20000 140000 | asks for {v} a year; expects {v} a year; hopes for a salary of {v}
available from, earliest start, ~can start | date 5 200 | can start on {v}; is available from {v}; is free from {v} | the first day the person could work
work history, positions, past jobs | rows jobs 1-3 | has worked as {v}
!interview interviewed interviewed interview interviewer | by on
= {name} from {residence} is applying for the post of {position applied for}
= for the vacancy as {position applied for} we have heard from {name}, who expects {expected salary}
= {name} wants to join us as {position applied for} and could start on {available from}

student, pupil; person; students, pupils
*name, student name | person
@student_number @age @email @nationality @residence
course of study, major, subject, ~studies | of law, physics, medicine, architecture, history, nursing, philosophy, chemistry, music, geography, economics, biology | studies {v}; is enrolled in {v}; reads {v} at university; is taking a degree in {v}
university, school, college | org | attends {v}; goes to {v}; is enrolled at {v}
semester, term | int 1 12 | is in semester {v}; has reached term {v}
average grade, GPA, grade average | num 1 4 1 | has a grade average of {v}; averages {v}
scholarship, ~funded | flag | yes: receives a scholarship; is funded by a grant / no: pays the fees; gets no scholarship | whether the student is supported
!supervise supervised supervised supervision supervisor | by
= {name} studies {course of study} at {university}
= {name}, {age}, is in semester {semester} of {course of study}
= {university} has {name} on its list for {course of study}

patient; person; patients
*patient, patient name, name | person
@age @birthday @allergies @smoker @height_in_cm
diagnosis, finding, ~diagnosed with | pool diagnoses | ^diagnosed with {v}; +with {v}; was diagnosed with {v}; suffers from {v}; has {v}; presents with {v}; is being treated for {v} | what the patient suffers from
attending doctor, doctor, physician, ~treated by | person | is being treated by {v}; was seen by {v}; is under the care of {v}; {v} examined {s} | who treats the patient
medications, medication, prescriptions | rows medications 1-3 | ^prescribed {v}; ^started on {v}; takes {v}; was prescribed {v}; was put on {v} | what the patient takes
blood pressure, BP | code 1%#/%0, 1##/## | has a blood pressure of {v}; showed a blood pressure of {v}
heart rate, pulse | int 48 140 bpm | has a pulse of {v}; showed a heart rate of {v}
weight, body weight | num 45 120 1 kg | weighs {v}; is {v} heavy; came in at {v}
follow-up, next appointment, ~return on | date 3 200 | ^follow-up on {v}; ^come back on {v}; has to come back on {v}; will be seen again on {v}; returns on {v} | when the patient comes again
admission date, ~admitted on, ~admitted | date -60 -1 | was admitted on {v}; came in on {v} | when the patient came to the hospital
ward, room | of ward 3, ward B2, room 114, room 7, intensive care, the children's ward | lies in {v}; was moved to {v}; is in {v}
= {attending doctor} saw {patient}, {age}, for {diagnosis}
= {patient}, {age} years old, was diagnosed with {diagnosis}
= {patient} was admitted on {admission date} with {diagnosis}
= impression: {diagnosis}. The patient, {patient}, is to return on {follow-up}
= {patient}, {age}, complains of {diagnosis}
= saw {patient} today, {diagnosis}, prescribed {medications}
= {patient} takes {medications} for {diagnosis}
= {patient} came in on {admission date} and lies in {ward}

lab sample, specimen, sample; thing; samples, specimens
*sample ID, sample number, specimen number | code S-####, LAB-#####, @@-##-###, ###/##
!collect collected collected collection collector | by on in
!analyse analysed analysed analysis analyst | by on
!freeze froze frozen freezing technician | by on
material, type of sample | of blood, soil, river water, saliva, sediment, urine, leaf tissue, groundwater | is made up of {v}; contains {v}; consists of {v}
pH value, pH, acidity | num 3 11 1 | has a pH of {v}; shows a pH of {v}; was measured at pH {v}
concentration, ~mg/l | num 0.1 90 2 mg/l | has a concentration of {v}; contains {v} of nitrate; showed {v}
result, outcome | choice | positive: tested positive; came back positive / negative: tested negative; came back clean / inconclusive: has to be tested again; gave no clear result
contaminated, ~contamination | flag | yes: was found to be contaminated; is not clean / no: is clean; shows no contamination
@storage_place @temperature

parcel, package, consignment, shipment; thing; parcels, shipments, packages
*tracking number, tracking code, ~tracking | code @@########, TRK-######, 1Z&&&&&&&&, ###########
sender, shipper, ~from | person | was sent by {v}; was handed in by {v}; {v} posted {s}; {v} is the one who sent {s} | who sent it
recipient, addressee, consignee, ~to | person | +for {v}; +to {v}; is addressed to {v}; is meant for {v}; is to be handed to {v}; {v} is waiting for {s} | who is to get it
carrier, courier company, ~shipped with | org | travels with {v}; is handled by {v}; was entrusted to {v}; {v} transports {s} | the company that transports it
shipping date, dispatch date, ~shipped on, ~sent | date -40 -5 | was shipped on {v}; left the warehouse on {v}; was handed to the courier on {v}; was posted on {v} | the day it was sent off, not the day of arrival
delivery date, arrival date, ~delivered on, ~ETA | date 1 30 | is due on {v}; is expected on {v}; should arrive on {v}; will be delivered on {v} | the day it arrives
destination, ~going to | place | goes to {v}; is bound for {v}; will be delivered in {v}; is on its way to {v} | where it is going
shipping cost, postage, freight | money 3 300 | cost {v} to send; required {v} in postage; was sent for {v} | what sending it costs
status, state | choice | in_transit: is on its way; is between two depots; has left the depot / delivered: has arrived; was handed over; was left with a neighbour / lost: went missing; cannot be found / returned: went back to the sender; was refused at the door
signature required, ~sign on delivery | flag | yes: must be signed for; needs a signature; ^please sign on delivery; ^not without a signature / no: can be left at the door; needs no signature; ^no signature needed; ^just leave it at the door | whether somebody has to sign
@weight @insured_value @fragile
= {sender} sent a parcel to {recipient} in {destination}
= a package from {sender} to {recipient} is on its way with {carrier}
= {carrier} picked up {tracking number} on {shipping date} and will deliver it to {recipient} on {delivery date}
= shipped {shipping date}, arriving {delivery date}

invoice, bill; thing; invoices, bills
*invoice number, invoice no, bill number, number | code INV-####, INV-####-###, RE#####, ####/##, @@-#####, F-2#-####
vendor, seller, supplier, ~billed by, issuer | org | +from {v}; +, sent by {v},; comes from {v}; was issued by {v}; was sent by {v}; {v} sent {s} | who sent the bill
customer, client, ~bill to, ~billed to, buyer | org | is made out to {v}; goes to {v}; was sent to {v}; is addressed to {v} | who has to pay
invoice date, issue date, date of issue, ~issued | date -90 -15 | +of {v}; +dated {v}; was issued on {v}; is dated {v}; was written on {v}; bears the date {v} | when it was issued
due date, payment deadline, ~pay by, ~due | date -10 60 | ^please pay by {v}; ^we ask for payment by {v}; is due on {v}; has to be paid by {v}; is payable until {v}; must be settled before {v} | when it has to be paid
total, total amount, amount due, grand total, ~to pay | money 20 9000 | comes to {v}; totals {v}; amounts to {v}; adds up to {v}; is for {v} | the whole sum, tax included
tax, VAT, sales tax, ~incl VAT | money 2 900 | includes {v} of tax; contains VAT of {v} | only the tax
net amount, subtotal, ~before tax | money 20 8000 | is {v} before tax; comes to {v} without tax | the sum without tax
tax rate, VAT rate | num 5 25 1 %,percent | is taxed at {v}; carries VAT of {v}
items, line items, positions | rows items 1-4 | ^we bill you for {v}; lists {v}; is for {v}; covers {v} | what was bought
paid, ~settled | flag | yes: has been paid; was settled last week; is paid in full; ^PAID; ^paid, thank you; ^your payment has arrived; ^nothing left to pay; ^received with thanks / no: has not been paid yet; is still open; remains unpaid; ^not paid; ^still open; ^please pay soon; ^we are waiting for your payment; ^this is a reminder; ^unpaid | whether it has been paid
discount, rebate, ~off | num 2 40 0 %,percent | grants a discount of {v}; includes a rebate of {v}
account number, IBAN, bank account | code DE## #### #### ####, GB## @@@@ ####, FR## ####, ##-##-## | ^please transfer the money to {v}; asks for payment to {v}; names the account {v}
order number, purchase order, PO | code PO-#####, 45######, ORD-#### | refers to order {v}; belongs to purchase order {v}
payment method, ~paid by | choice | card: was paid by card; was charged to a credit card / cash: was settled in cash; was paid at the counter in notes / transfer: was paid by bank transfer; was settled by wire
= {vendor} billed {customer} {total} on {invoice date}
= please find invoice {invoice number} from {vendor}, issued on {invoice date}
= the total is {total}, due on {due date}
= {customer} owes {vendor} {total}, payable by {due date}
= of the {total}, {tax} is tax
= this is our bill over {total} for {items}
= it lists {items}
= we have received {total} for invoice {invoice number}
= please pay {total} by {due date} to {account number}
= invoice {invoice number} to {customer}, {net amount} plus {tax} of VAT

order, purchase; thing; orders, purchases
*order number, order ID, ~order no | code SO-####, ORD-#####, #########, @#####, W##-####
^customer, buyer, ~ordered by, client | person | was placed by {v}; comes from {v}; {v} placed {s}; {v} ordered {s} | who ordered
items, products, articles | rows items 1-4 | ^I would like to order {v}; ^you ordered {v}; contains {v}; consists of {v}; includes {v} | what was ordered
order date, ~ordered on, ~placed | date -60 -5 | +of {v}; +from {v}; was placed on {v}; came in on {v}; dates from {v} | when it was ordered
delivery date, ~arrives, expected delivery | date 1 40 | will arrive on {v}; is to be delivered on {v}; is expected on {v} | when it arrives
total, order value, sum, amount | money 5 3000 | comes to {v}; totals {v}; is worth {v} | what all of it costs
postal code, postcode, ZIP code | code #####, #### @@, @@%# #@@ | goes to the postal code {v}; has to reach {v} | the code of the town
shipping address, delivery address, ~ship to | street | ^please deliver to {v}; ^send everything to {v}; goes to {v}; is to be delivered to {v}; is addressed to {v}
shipping cost, delivery fee | money 2 60 | is delivered for {v}; carries a delivery fee of {v}
coupon, voucher code, promo code | code SAVE##, @@@@##, SPRING##, WELCOME# | was placed with the voucher {v}; used the code {v}
status, order status | choice | pending: is waiting for approval; has not been handled yet / shipped: has left our warehouse; was handed to the courier / delivered: has arrived; was received by the customer / cancelled: was called off; was withdrawn by the buyer
gift, ~gift wrap | flag | yes: is a gift; should be wrapped as a present; ^it is a present; ^gift-wrapped, please; ^please add a ribbon / no: is not a gift; needs no wrapping; ^no gift wrap; ^no wrapping, thanks; ^for myself | whether it is a present
= {customer} ordered {items} for {total}
= thank you for your order {order number} of {order date}
= {customer} placed order {order number} on {order date}
= we will deliver {items} on {delivery date}
= {items} for {customer}, please
= the buyer, {customer}, lives at {shipping address}
= ship to: {customer}, {shipping address}, {postal code}
= order {order number}: {items}, {total}
= {customer} bought {items} on {order date}

product, article, item; thing; products, articles, items; the {v}
*product name, product, ~item, name | product
@price @colour @material @weight @in_stock @manufacturer @rating @number_of_reviews @warranty @width @height @origin
@power @noise_level @battery_life @fragile
article number, SKU, item number | code ###-###, A#####, SKU-####, ##.###.## | has the article number {v}; is listed as {v}; can be ordered under {v}
discount, reduction, ~off | num 5 70 0 %,percent | is reduced by {v}; is {v} cheaper this week; comes with {v} off
old price, former price, ~was | money 5 4000 | used to cost {v}; cost {v} until last week; was {v} before | what it cost before
= get the {product name} for {price}
= the {product name} now costs {price} instead of {old price}
= {product name}, {material}, {colour}: {price}
= {manufacturer} sells the {product name} for {price}
= {product name} by {manufacturer}, {price}
= we sell the {product name} for {price}, formerly {old price}
= our new {product name} is made of {material} and costs {price}

support ticket, ticket, case; thing; tickets, cases
*ticket number, case number, ticket ID, ~ref | code TCK-####, #######, CASE-####, REQ######, T#####
^customer, reporter, requester, ~reported by, ~opened by | person | was opened by {v}; comes from {v}; was reported by {v}; {v} opened {s} | who asked for help
assignee, agent, ~handled by, ~assigned to | person | is handled by {v}; was assigned to {v}; landed with {v}; {v} is working on {s} | who works on it
affected product, product, device, ~about | product | is about the {v}; concerns the {v}; was filed for the {v} | what the problem is with
problem, issue, description, ~subject | fault | says that {v}; complains that {v}; reports that {v} | what went wrong
priority, urgency, severity | choice | low: can wait; is nothing urgent; has no hurry / medium: should be looked at this week; is of normal importance / high: has to be solved today; is pressing; cannot wait / urgent: stops all work; is an emergency
opening date, date opened, ~created, ~opened on | date -40 -1 | was opened on {v}; came in on {v}; dates from {v}
solved, resolved, ~closed | flag | yes: has been solved; was closed yesterday; is fixed; ^problem solved; ^all good now; ^fixed, thanks / no: is still open; remains unsolved; has not been fixed; ^still waiting; ^nothing has changed; ^no solution yet; ^please help | whether the problem is gone
category, kind of problem | choice | billing: concerns a wrong charge; is about a refund / technical: is about a defect; concerns a fault in the device / account: is about a lost password; concerns access to an account
= {customer} writes that {problem}
= {customer} has trouble with the {affected product}: {problem}
= my {affected product} has a problem: {problem}
= {assignee} looks after ticket {ticket number} from {customer}
= {customer} reports that {problem}
= I bought the {affected product} and now {problem}
= {assignee} is to call {customer} about the {affected product}

flight; thing; flights; flight {v}, {v}
*flight number, flight, ~flight no | code @@ ####, @@###, @@ ###, @#-####
airline, ~operated by, carrier | pool airlines | is operated by {v}; is flown by {v}; belongs to {v}; {v} operates {s} | who operates it
origin, departure airport, ~from | place | +from {v}; leaves from {v}; takes off in {v}; departs from {v}; starts in {v} | where it takes off
destination, arrival airport, ~to | place | +to {v}; +bound for {v}; goes to {v}; lands in {v}; flies to {v}; is bound for {v} | where it lands
departure, departure time, ~departs, ~leaves | moment 1 200 | ^you leave {on}; takes off {on}; leaves {on}; departs {on} | when it takes off
arrival, arrival time, ~arrives, ~lands | moment 1 200 | lands {on}; arrives {on}; touches down {on} | when it lands
gate, departure gate | code @##, @#, ##, @##@ | ^please go to gate {v}; ^boarding is at gate {v}; leaves from gate {v}; boards at gate {v}; departs from gate {v}
seat, seat number | code ##@, #@ | ^your seat is {v}; ^you sit in {v}; has seat {v} reserved for you; comes with seat {v}
passenger, traveller | person | was booked for {v}; carries {v}; {v} is booked on {s} | who flies
booking reference, confirmation code, PNR | code &&&&&&, @@@##@ | is booked under {v}; has the booking reference {v}
fare, ticket price, price | money 30 1800 | costs {v}; was booked for {v}; came to {v}
baggage allowance, luggage, ~baggage | int 8 46 kg | includes {v} of luggage; allows {v} of baggage
delayed, ~delay | flag | yes: is delayed; leaves later than planned; ^running late; ^expect a delay; ^not on time / no: is on time; leaves as scheduled; ^on time; ^no delays; ^everything runs to plan | whether it is late
aircraft, plane type | of Airbus A320, Boeing 737, Embraer 190, ATR 72, Airbus A350, Boeing 787, Dash 8 | is flown with a {v}; uses a {v}
= {airline} flight {flight number} from {origin} to {destination} leaves on {departure}
= we fly from {origin} to {destination} with {airline}
= your flight {flight number} to {destination} boards at gate {gate}
= {passenger} flies from {origin} to {destination} in seat {seat}
= {flight number} {origin}–{destination}, departing {departure}
= your booking is confirmed: {flight number} with {airline} from {origin} to {destination}
= {passenger}, seat {seat}, gate {gate}
= the trip from {origin} to {destination} costs {fare}

hotel booking, reservation, booking; thing; bookings, reservations
*confirmation number, booking number, reservation code | code #######, HB-####, &&&&&&&, R-#####
guest, guest name, ~booked by, ~for | person | was made by {v}; is in the name of {v}; was made for {v}; {v} made {s} | who stays
hotel, ~staying at, property | of Hotel Aurora, The Grand Linden, Seaview Inn, Hotel Bristol, Pension Edelweiss, The Old Mill, Harbour Lodge, Casa Verde, Hotel Miramar, Park Plaza | is at {v}; was made with {v}; is for {v} | where the guest stays
check-in, arrival date, ~arriving, ~from | date 1 90 | begins on {v}; starts on {v}; has check-in on {v} | the day of arrival
check-out, departure date, ~leaving, ~until | date 91 110 | ends on {v}; runs until {v}; has check-out on {v} | the day of departure
nights, number of nights, ~stay | span 1 21 nights | is for {v}; covers {v}; lasts {v} | how many nights
guests, number of guests, party size | int 1 8 guests,people | is for {v}; covers {v} | how many people stay
room type, room, category | of double room, single room, junior suite, family room, twin room, penthouse, studio | is for a {v}; includes a {v}
price per night, nightly rate, ~per night | money 40 600 | costs {v} a night; is charged at {v} per night | for one night
total price, total, amount | money 80 4000 | comes to {v} in all; totals {v}; costs {v} altogether | for the whole stay
breakfast included, breakfast | flag | yes: includes breakfast; comes with breakfast; ^breakfast included; ^with breakfast; ^breakfast is on us; ^the first meal of the day is free / no: does not include breakfast; is without breakfast; ^no breakfast; ^breakfast not included; ^breakfast costs extra | whether breakfast is included
refundable, cancellable, ~free cancellation | flag | yes: can be cancelled free of charge; is refundable; ^free cancellation; ^cancel any time; ^full refund / no: cannot be cancelled; is not refundable; ^no refunds; ^non-refundable; ^no cancellation possible | whether the money is given back
= {guest} stays at {hotel} from {check-in} to {check-out}
= we look forward to welcoming {guest} at {hotel} on {check-in}
= {hotel} confirms {nights} for {guest}
= {room type} for {guests}, arriving {check-in}, leaving {check-out}
= {guest} has booked {room type} at {hotel}
= {hotel}: {nights} at {price per night} a night
= your room at {hotel} is ready from {check-in}

property listing, flat, house, apartment; thing; flats, listings, homes
address, street, ~located at | street | is at {v}; can be found at {v}; stands at {v}
@area @year_of_construction @deposit
city, town, ~located in | place | is in {v}; lies in {v}; is situated in {v}
rooms, number of rooms | int 1 9 rooms | has {v}; offers {v}; comes with {v}
bathrooms, baths | int 1 4 bathrooms | has {v}; offers {v}
monthly rent, rent, ~per month | money 300 4500 | rents for {v} a month; costs {v} a month; is let for {v} a month | what it costs a month
purchase price, asking price, ~for sale at | money 60000 2000000 | sells for {v}; is for sale at {v}; is on the market for {v} | what it costs to buy
floor, storey | of ground floor, first floor, second floor, third floor, top floor, basement | is on the {v}; lies on the {v}
amenities, features, ~with | list 2-4 pool amenities | offers {v}; has {v}; comes with {v}
pets allowed, pets, ~animals | flag | yes: welcomes pets; may be shared with a dog; ^pets welcome; ^bring your dog; ^cats are fine; ^pets OK / no: does not allow pets; is not for pet owners; ^no pets; ^sorry, no pets; ^pets not allowed; ^no animals, please | whether animals are allowed
furnished, ~furniture | flag | yes: is fully furnished; comes with furniture; ^furnished; ^fully furnished; ^all you need is in there; ^bed, table and sofa stay / no: is unfurnished; is let empty; ^unfurnished; ^empty rooms; ^bring your own furniture; ^no furniture | whether there is furniture
available from, free from, ~move in | date 5 200 | is free from {v}; can be moved into on {v}; becomes available on {v} | when one can move in
landlord, agent, ~contact | person | ^ask {v} about it; is let by {v}; is offered by {v}; {v} shows {s} | whom to ask
= {rooms} on {area} in {city} for {monthly rent} a month
= bright flat at {address}, {city}
= {landlord} lets a flat with {rooms} in {city}
= the rent is {monthly rent} a month plus {deposit} as a deposit
= {address}, {city}: {rooms}, {area}, {monthly rent}
= in {city} we have a home with {rooms} and {bathrooms}
= for sale: {rooms} in {city}, {purchase price}

event, fair, festival; event; events
*event name, event, title | pool topics
@date @start @venue @city @organizer @speaker @participants @ticket_price @sponsor @free @cancelled @registration_deadline
= {organizer} invites you to the {event name} in {city} on {date}
= the {event name} takes place at {venue} on {date}
= join us for the {event name}, {date}, {venue}
= {speaker} will open the {event name} at {venue}
= {event name}: {date}, {venue}, {city}
= tickets for the {event name} cost {ticket price}
= the {event name} in {city} drew {participants}

meeting, call, conference; event; meetings, calls; the meeting
topic, title, subject, ~about, agenda | pool topics | is about {v}; deals with {v}; was called to discuss the {v} | what it is about
chair, chairperson, ~led by, moderator | person | is chaired by {v}; is led by {v}; {v} chairs {s} | who leads it
minutes taker, secretary, ~minutes by | person | is written up by {v}; has {v} taking the minutes; {v} takes the minutes | who writes it up
participants, attendees, ~present | list 2-4 person | ^{v} took part; ^{v} were there; brings together {v}; is attended by {v}; includes {v} | who takes part
action items, tasks, to-dos | rows tasks 1-3 | ^to do: {v}; ^next steps: {v}; ended with these tasks: {v}; left the following to do: {v}
room, meeting room, ~where | pool rooms | takes place in {v}; is held in {v}; happens in {v} | where it is held
next meeting, follow-up date | date 5 60 | will be continued on {v}; is followed by another one on {v} | when the group meets again
dial-in code, meeting ID | code ### ### ###, ####-####, ###-@@@ | can be joined with the code {v}; has the ID {v}
online, ~virtual | flag | yes: takes place online; is held by video; ^online; ^by video call; ^the link follows; ^dial in from wherever you are / no: is held in person; takes place on site; ^in person; ^on site; ^face to face | whether it is held online
@start @duration_in_minutes
= {chair} called a meeting about the {topic}
= {chair} wants to talk about the {topic} in {room}
= minutes: {topic}, led by {chair}, written by {minutes taker}
= the {topic} starts {start}

job advertisement, position, vacancy; thing; vacancies, jobs, positions; the position of {v}, the job as {a}, our opening for {a}
*job title, position, role, title | pool jobs
company, employer, ~hiring company, ~at | org | +at {v}; is offered by {v}; is at {v}; is to be filled at {v}; {v} has opened {s} | who hires
location, city, ~based in | place | +in {v}; is based in {v}; is in {v}; is to be filled in {v} | where the work is
salary, annual pay, pay, ~compensation | money 22000 180000 | ^we pay {v} a year; ^you earn {v} a year; ^the salary is {v} a year; pays {v} a year; comes with {v} a year; carries a salary of {v} | what it pays in a year
required skills, skills, requirements, ~you know | list 2-5 pool skills | ^you bring experience with {v}; ^you know {v}; ^we expect you to know {v}; calls for {v}; requires {v}; asks for {v} | what applicants must know
experience, years of experience, ~years required | span 1 12 years | requires {v} of experience; asks for {v} in a similar job | how long one must have worked
application deadline, deadline, ~apply by | date 5 90 | ^please apply by {v}; ^send us your application by {v}; is open until {v}; closes on {v}; takes applications until {v} | until when one can apply
contact person, recruiter, ~contact | person | ^please write to {v}; ^ask for {v}; is handled by {v}; {v} answers questions about {s} | whom to ask
remote, home office | flag | yes: can be done from home; is fully remote; allows remote work; ^work from anywhere; ^remote; ^home office possible; ^100% remote / no: is on site only; does not allow remote work; ^on site; ^no remote work; ^office only; ^no home office | whether one can work from home
employment type, contract | choice | full_time: is a full-time job; fills the whole week / part_time: is a part-time job; takes half of the week / internship: is an internship; is meant for trainees
vacation days, holidays, ~days off | int 20 36 days | offers {v} of holiday; comes with {v} off
benefits, perks | list 1-3 of a company bike, free lunch, a pension plan, health insurance, gym membership, a transit pass, stock options, language classes | offers {v}; comes with {v}
= {company} is looking for {a job title} in {location}
= {company} wants to hire {a job title}
= we at {company} need {a job title} who knows {required skills}
= {a job title} wanted in {location}
= as {a job title} you earn {salary} a year
= apply by {application deadline} to {contact person}
= {company} in {location} is hiring {a job title}
= {a job title} at {company}: {salary}
= you are {a job title} and know {required skills}? Then apply at {company}
= {company} seeks {a job title} with {experience} of practice

company, firm, business; company; companies, firms
*company name, company, name | org
@founding_year @founder @chief_executive @headquarters @employees @revenue @profit @industry @website @customers @parent_company @listed @VAT_number @offices
= {company name}, based in {headquarters}, employs {employees}
= {founder} founded {company name} in {founding year}
= {company name} of {headquarters} reported sales of {revenue}
= {chief executive} runs {company name} from {headquarters}
= {company name} was founded in {founding year} by {founder}
= {company name} made a profit of {profit} on sales of {revenue}
= {parent company} owns {company name}

bank transaction, transfer, payment; thing; transactions, payments, transfers
*transaction ID, reference, reference number | code TX######, ##########, REF-####, @@##@@##
amount, sum, ~value | money 3 20000 | is over {v}; amounts to {v}; moved {v}; is for {v} | how much was moved
payer, sender, ~from, ordering party | person | was made by {v}; comes from {v}; {v} made {s} | who paid
payee, beneficiary, recipient, ~to | org | went to {v}; was credited to {v}; is in favour of {v} | who got the money
booking date, ~booked on, date | date -200 -1 | was booked on {v}; was carried out on {v} | when it was booked
value date, ~valued | date -200 5 | has the value date {v}; counts from {v}
purpose, reason, ~for, memo | of rent for May, school fees, birthday present, car repair, concert tickets, dental bill, monthly savings, piano lessons, holiday deposit | is for {v}; was made with the note {v}; carries the memo {v} | what the money is for
balance, new balance, account balance | money 10 40000 | left a balance of {v}; brings the account to {v} | what was left afterwards
fee, bank charge | money 1 40 | cost {v} in charges; carried a fee of {v}
recurring, standing order | flag | yes: is repeated every month; is a standing order / no: is a single payment; will not be repeated | whether it is repeated
failed, ~declined | flag | yes: was declined; could not be carried out / no: went through; was carried out without trouble
= {payer} transferred {amount} to {payee}
= {amount} went from {payer} to {payee} on {booking date}
= {payee} received {amount} for {purpose}
= after a payment of {amount} the balance is {balance}
= on {booking date} we booked {amount} from {payer}
= {payer} paid {payee} {amount} for {purpose}

movie, film; work; films, movies
*title, film title, ~film | work
director, ~directed by, film maker | person | +by {v}; +, directed by {v},; was directed by {v}; was made by {v}; {v} directed {s} | who directed it
leading actor, star, ~starring | person | stars {v}; has {v} in the lead; features {v} in the main part | who plays the main part
cast, actors | list 2-4 person | features {v}; brings together {v}; has a cast of {v}
budget, production cost | money 90000 200000000 | cost {v} to make; had a budget of {v}; was made for {v} | what it cost to make
box office, ~grossed, takings | money 90000 900000000 | took in {v} at the box office; grossed {v}; earned {v} in cinemas | what it earned
age rating, ~suitable from | choice | all: is suitable for all ages; can be watched with small children / teens: is meant for teenagers and up; is not for young children / adults: is for adults only; contains scenes not meant for minors
composer, ~music by | person | has music by {v}; was scored by {v}; {v} wrote the music for {s}
studio, ~produced by | org | was produced by {v}; came out of the studios of {v}; {v} produced {s}
release year, year, ~released | year 1930 2025 | +({v}); +from {v}; came out in {v}; reached cinemas in {v}; was released in {v} | when it came out
@running_time_in_minutes @genre @language @award
= {director} filmed {title} with {leading actor}
= {title} ({release year}) by {director} stars {leading actor}
= in {title}, {leading actor} plays the main part
= {studio} spent {budget} on {title}
= {director}'s film {title} runs {running time in minutes}
= {title} cost {budget} and earned {box office}

book, novel; work; books, novels
*title, book title, ~book | work
@author @publisher @publication_year @pages @genre @language @editor @copies_sold @award @price @in_stock
ISBN, book number | code 978-#-##-######-#, 978#########, #-###-#####-# | has the ISBN {v}; is registered as {v}
translator, ~translated by | person | was translated by {v}; {v} translated {s}; owes its English version to {v} | who translated it
chapters, contents | rows chapters 2-4 | has these chapters: {v}; consists of {v}
paperback, ~binding | choice | paperback: is out in paperback; has a soft cover / hardcover: is bound in cloth; has a hard cover / ebook: can be read on a screen only; exists only as a file
= {author} wrote {title} in {publication year}
= {title} by {author} ({publisher}, {publication year})
= {publisher} has brought out {title} by {author}
= {author}'s {title} has {pages}
= {title}, written by {author}, came out in {publication year}
= {translator} translated {title} by {author}
= we recommend {title} by {author} ({pages}, {publisher})

concert, gig; event; concerts, gigs; the concert of {v}, the show by {v}
*band, artist, ~act | of The Copper Foxes, Salt & Ivory, Night Tram, Paper Lakes, Miriam Holt Trio, The Late Herons, Glass Orchard, Dune Choir, Velvet Anchor, Northern Stair, The Quiet Hours
@date @venue @city @ticket_price @sponsor @cancelled @participants
support act, opening act, ~with | of Moss & Co, The Tin Larks, Ada Bloom, Red Ferry, Lowland Drums, Kite Parade | is opened by {v}; has {v} as the opening act; begins with {v} | who plays first
doors open, ~doors | time | ^doors open at {v}; lets people in at {v}; opens its doors at {v}
sold out, ~fully booked | flag | yes: is sold out; has no tickets left; ^SOLD OUT; ^no tickets left; ^fully booked; ^all tickets are gone / no: still has tickets left; is not sold out yet; ^tickets left; ^some seats are free; ^still tickets at the door
songs played, number of songs | int 8 40 songs | had {v}; ran to {v}
= {band} will play at {venue} in {city} on {date}
= {band} and {support act} share the stage at {venue}
= see {band} live for {ticket price}
= doors at {doors open}, {band} on stage at {venue}

restaurant, cafe; company; restaurants; {v}
*restaurant, name, ~place | of Zum Anker, The Copper Pot, Casa Lupo, Green Olive, Chez Margot, Golden Wok, The Salt Room, Bistro 22, La Paloma, Old Ferry Inn, Saffron House, Mama Rosa
cuisine, ~food, kitchen | of Italian, Thai, Indian, Lebanese, Mexican, French, Japanese, Ethiopian, Greek, Korean | serves {v} food; is known for {v} dishes; cooks {v} | what kind of food it serves
chef, head chef, ~kitchen led by | person | has {v} in the kitchen; {v} cooks there | who cooks
seats, number of seats | int 12 240 seats,guests | has room for {v}; offers {v} | how many can sit there
average bill, price per person, ~per head | money 9 180 | costs about {v} per person; charges {v} for a meal | what one person pays
closing day, ~closed on | of Mondays, Tuesdays, Wednesdays, Sundays, public holidays, Saturdays | is closed on {v}; stays shut on {v}
reservation needed, ~booking | flag | yes: needs a reservation; cannot be visited without booking; ^booking essential; ^by reservation only; ^please book ahead; ^reservations required / no: takes walk-in guests; needs no reservation; ^no booking needed; ^just drop in; ^walk-ins welcome; ^come as you are
outdoor seating, terrace | flag | yes: has tables outside; offers a terrace; ^outdoor seating; ^terrace; ^tables in the garden / no: has no tables outside; serves indoors only; ^indoors only; ^no terrace; ^no tables outside
signature dish, speciality | pool dishes | is famous for its {v}; serves {v} as its speciality; recommends the {v}
@rating @number_of_reviews @phone_number @address @website @founding_year
= {chef} cooks {cuisine} food at {restaurant}
= {restaurant} at {address} serves {cuisine} food
= try the {signature dish} at {restaurant}
= a meal for one at {restaurant} costs {average bill}

lease, rental agreement, tenancy; thing; leases, agreements
tenant, renter, lessee | person | was signed by {v} as tenant; is let to {v}; gives {v} the right to live there | who rents
landlord, owner, lessor | person | was drawn up by {v} as landlord; is granted by {v} | who lets
monthly rent, rent, ~rent per month | money 300 4000 | sets the rent at {v} a month; asks for {v} every month | what is paid each month
start date, beginning, ~from | date 1 60 | begins on {v}; runs from {v}; takes effect on {v} | when it begins
end date, expiry, ~until | date 300 1500 | ends on {v}; runs until {v}; expires on {v} | when it ends
notice period, ~notice in months | span 1 6 months | can be ended with {v} of notice; has a notice period of {v} | how long before the end one must tell
address, premises, property address | street | covers the flat at {v}; is about {v}; concerns the premises at {v}
subletting allowed, ~sublet | flag | yes: permits subletting; lets the tenant sublet / no: forbids subletting; does not allow a subtenant
number of keys, keys | int 1 8 keys | comes with {v}; hands over {v}
@deposit
= {landlord} lets the flat at {address} to {tenant}
= {tenant} pays {landlord} {monthly rent} a month
= between {landlord} (landlord) and {tenant} (tenant)
= the tenancy runs from {start date} to {end date}

contract, agreement; thing; contracts, agreements
*contract number, agreement number | code C-####, AGR-###, ##/####, K#####
client, principal, ~first party | org | was concluded by {v} as the client; was commissioned by {v}; {v} commissioned {s} | who orders the work
contractor, provider, ~second party | org | is carried out by {v}; obliges {v} to do the work; was awarded to {v} | who does the work
value, contract value, volume | money 1000 3000000 | is worth {v}; has a volume of {v}; is over {v} | how much it is worth
penalty, ~penalty clause | money 100 50000 | provides for a penalty of {v}; threatens a fine of {v} in case of delay
start, effective date, ~from | date 1 90 | takes effect on {v}; begins on {v} | from when it holds
end, termination date, ~until | date 200 1600 | ends on {v}; runs out on {v} | until when it holds
renewable, ~automatic renewal | flag | yes: renews itself each year; is extended automatically / no: ends without renewal; is not extended automatically
governing law, jurisdiction | pool countries | is governed by the law of {v}; is subject to the courts of {v}
!sign signed signed signing signatory | by on in
!draft drafted drafted drafting drafter | by on
= {client} hires {contractor} for {value}
= between {client}, the client, and {contractor}, the contractor
= {contractor} will work for {client} from {start} to {end}

vehicle, car, used car; thing; cars, vehicles
*model, car, make and model | pool vehicles
price, asking price, ~costs | money 600 80000 | costs {v}; is for sale at {v}; sells for {v}; +for {v} | what it costs
@colour @owner @condition
mileage, odometer, ~km | int 900 290000 km,kilometres | has done {v}; shows {v}; has {v} on the clock | how far it has been driven
first registration, year, ~registered | year 1995 2024 | was first registered in {v}; dates from {v} | the year of its first registration
fuel, fuel type, ~runs on | choice | petrol: runs on petrol; has a petrol engine / diesel: runs on diesel; burns diesel / electric: runs on batteries; needs no fuel, only a plug / hybrid: has both an engine and a battery; combines petrol and electricity
transmission, gearbox | choice | manual: has a manual gearbox; is shifted by hand / automatic: shifts by itself; has an automatic gearbox
engine power, horsepower | int 45 480 hp,PS | delivers {v}; has {v} under the bonnet
licence plate, registration, plate | code @-@@ ###, @@## @@@, ### @@@, @@@ #### | bears the plate {v}; is registered as {v}
doors, number of doors | int 2 5 doors | has {v}
accident-free, ~no accidents | flag | yes: has never been in an accident; is free of accidents / no: was in a crash once; has had an accident
next inspection, MOT due, ~inspection due | date 20 700 | needs its next inspection on {v}; has to be inspected by {v}
= {owner} sells a {model} with {mileage} for {price}
= {model}, {first registration}, {mileage}, {price}
= for sale: {model} in {colour}, {mileage}
= {owner} drives a {model}
= {model} from {first registration} with {mileage} on the clock, {price}
= my {model} is for sale at {price}

software release, release, version; thing; releases, versions; version {v}, release {v}
*version, version number, release | code %.#.#, v%.##, ##.#, %.#.#-rc%
product, application, ~software | of Lumen CLI, Orchard DB, Mosaic Server, Paperboat, Quill Editor, Tidegate, Northstar SDK, Kettle, Bramble, Fern Mobile | belongs to {v}; updates {v}; is part of {v} | which program it is of
release date, ~released on, ~published | date -500 -1 | came out on {v}; was published on {v}; was shipped on {v} | when it came out
release manager, ~released by, maintainer | person | was put out by {v}; was prepared by {v}; {v} released {s} | who put it out
bugs fixed, fixes, number of fixes | int 1 240 bugs,issues | fixes {v}; closes {v} | how many faults it removes
new features, features, additions | list 1-3 of dark mode, offline search, bulk export, single sign-on, undo history, a plugin store, faster sync, spell checking, audit logs | adds {v}; brings {v}; introduces {v} | what it adds
download size, size, ~MB | num 1 900 1 MB | is {v} large; weighs in at {v}; takes {v} to download
breaking, ~breaking changes | flag | yes: breaks older plugins; is not backwards compatible / no: breaks nothing; stays compatible
licence, license | of MIT, Apache-2.0, GPL-3.0, BSD-3-Clause, MPL-2.0, proprietary | is published under {v}; is licensed under {v}
minimum memory, RAM needed | int 1 64 GB | needs {v} of memory; requires at least {v} of memory
= {product} {version} is out
= {release manager} released {product} {version} on {release date}
= {version} of {product} adds {new features}

incident, outage; event; incidents, outages
*incident number, incident ID | code INC-####, INC#######, P%-####
affected service, service, system | of the login page, payments, the mail gateway, search, the mobile app, video calls, the data warehouse, the booking system, backups | hit {v}; brought down {v}; affected {v} | what did not work
start, ~started, ~began | moment -90 -1 | began {on}; started {on} | when it began
duration in minutes, downtime, ~lasted | span 3 900 minutes,min | lasted {v}; took {v} to resolve; went on for {v} | how long it lasted
root cause, cause, reason | cause | was caused by {v}; goes back to {v}; was due to {v} | why it happened
affected users, users affected, customers affected | int 3 90000 users,customers | affected {v}; hit {v}; locked out {v} | how many noticed it
severity, impact | choice | minor: was hardly noticed; did little harm / major: was felt by most customers; did serious harm / critical: stopped the whole company; brought everything to a halt
resolved, ~closed | flag | yes: has been resolved; is over / no: is still going on; has not been resolved
!report reported reported report reporter | by on
!fix fixed fixed fix fixer | by
= {affected service} went down on {start} because of {root cause}
= {root cause} took down {affected service} for {duration in minutes}
= {affected users} could not use {affected service}

recipe, dish; thing; recipes, dishes; the {v}, the recipe for {v}
*dish, recipe, title, name | pool dishes
servings, portions, ~serves | int 1 12 servings,portions,people | makes {v}; is enough for {v}; feeds {v} | how many it feeds
preparation time, prep minutes, ~prep | span 5 60 minutes,min | takes {v} to prepare; needs {v} of preparation | the work before it goes on the stove
cooking time, ~on the stove | span 5 180 minutes,min | cooks for {v}; has to simmer for {v}; is on the stove for {v} | how long it is on the heat
ingredients, ~you need | rows ingredients 2-5 | ^you need {v}; ^take {v}; needs {v}; calls for {v}; is made with {v} | what goes in
calories, kcal, energy | int 90 1400 kcal,calories | has {v} per portion; comes to {v} a serving
difficulty, level | choice | easy: is easy to make; can hardly go wrong / medium: takes some practice / hard: is for experienced cooks; is difficult
oven temperature, ~oven | int 120 250 °C | ^heat the oven to {v}; is baked at {v}; goes into the oven at {v}
vegan, ~plant-based | flag | yes: is vegan; contains nothing from animals; ^vegan; ^100% plant-based; ^no animal products / no: is not vegan; contains animal products; ^not vegan; ^contains egg and milk
cook, ~recipe by, author | person | comes from {v}; was written down by {v}; {v} came up with {s} | whose recipe it is
= {dish}: {servings}, ready after {cooking time}
= for the {dish} you need {ingredients}
= cook {ingredients} for {cooking time}
= {cook} shares a recipe for {dish} that feeds {servings}

weather report, forecast; thing; forecasts, reports
city, place, ~for | place | is for {v}; covers {v}; was issued for {v} | where the weather is
date, day, ~valid for | date -3 10 | is for {v}; is valid on {v} | the day it is about
high, maximum temperature, ~max | num -10 42 0 °C,degrees | ^expect up to {v}; expects a high of {v}; puts the maximum at {v}; promises up to {v}
low, minimum temperature, ~min | num -25 20 0 °C,degrees | ^at night it cools down to {v}; expects a low of {v}; puts the minimum at {v}
rain, rainfall, precipitation | num 0.5 60 1 mm | ^{v} of rain will fall; expects {v} of rain; announces {v} of rain
chance of rain, rain probability | int 5 100 % | puts the chance of rain at {v}; gives rain a chance of {v}
wind speed, wind | int 3 130 km/h | expects winds of {v}; announces gusts of {v}
wind direction, ~wind from | of north, south-west, east, north-west, south, west, south-east | expects wind from the {v}
sky, conditions | choice | sunny: promises clear skies; expects sun all day / cloudy: expects an overcast sky; sees clouds all day / rain: expects showers; tells you to bring an umbrella / snow: expects flakes to fall; sees white streets ahead
warning, ~weather warning | flag | yes: comes with a storm warning; warns of danger / no: comes without any warning; sees no danger
forecaster, ~issued by | org | was issued by {v}; comes from {v}
= in {city} it will be between {low} and {high}
= {city}, {date}: up to {high}, at night {low}
= winds of {wind speed} from the {wind direction} in {city}

court case, lawsuit, case; thing; cases, lawsuits
*case number, docket number, file number | code ##-cv-####, %##/##, @ ###/##, ####-##
plaintiff, claimant | person | was brought by {v}; was filed by {v}; {v} filed {s} | who sues
defendant, ~against | org | is directed against {v}; was brought against {v}; accuses {v} | who is sued
judge, ~presided by | person | is heard by {v}; lies with {v}; was decided by {v} | who decides
court, ~heard at | of the District Court, the Labour Court, the High Court, the Commercial Court, the Court of Appeal, the Family Court | is before {v}; is being heard at {v}; went to {v}
amount in dispute, damages, sum claimed | money 500 9000000 | is about {v}; claims {v} in damages; is over {v} | how much money it is about
filing date, ~filed on | date -900 -200 | was filed on {v}; has been pending since {v}
hearing date, next hearing, ~hearing | date 1 200 | will be heard on {v}; comes up on {v} | when it is heard
verdict, outcome, ruling | choice | won: was won by the plaintiff; ended in favour of the plaintiff / dismissed: was thrown out; was dismissed / settled: ended in a settlement; was settled out of court / pending: has not been decided; is still open
lawyer, counsel, attorney | person | is argued by {v}; {v} represents the plaintiff | who speaks for the plaintiff
appeal possible, ~appeal | flag | yes: can be appealed; is not final / no: is final; cannot be appealed
= {plaintiff} is suing {defendant} for {amount in dispute}
= {judge} will hear {plaintiff} against {defendant} on {hearing date}
= {plaintiff} v. {defendant}, {court}
= the case of {plaintiff} against {defendant} is before {court}

museum piece, exhibit, object; thing; exhibits, objects, pieces
*title, name of the piece, ~object | work
*inventory number, accession number, ~inv | code ####.##, A ###, M-####, ##/###
@material @height @weight @insured_value @condition @storage_place
artist, creator, ~made by | person | +by {v}; was made by {v}; is the work of {v}; {v} created {s} | who made it
year, year of origin, ~dated | year 1420 1990 | dates from {v}; was made in {v} | when it was made
donor, ~gift of, lender | person | was given by {v}; is a gift of {v}; came to the museum from {v} | who gave it to the museum
room, gallery, ~shown in | of Room 3, Room 12, the west gallery, the glass hall, the crypt, Gallery B | is shown in {v}; hangs in {v}; can be seen in {v}
on display, ~shown | flag | yes: is on display; can be seen at the moment / no: is in storage; is not on display at the moment
!restore restored restored restoration restorer | by on in
!acquire acquired acquired acquisition buyer | by on in
= {artist} made "{title}" in {year}
= "{title}" by {artist}, {material}
= {donor} gave the museum "{title}"

course, class, workshop; event; courses, classes; the course {v}, the class "{v}"
*course title, course, ~class | of Beginner Pottery, Spanish II, Intro to Statistics, Watercolour Basics, Web Design, Bread Baking, Modern Dance, First Aid, Bookkeeping I, Night Photography, Garden Planning, Chess for Adults
course number, course code, ~no | code @@@ ###, ##-###, K####, @@-##
teacher, instructor, lecturer, ~taught by | person | +with {v}; +by {v}; is taught by {v}; is given by {v}; {v} teaches {s} | who teaches
first day, start date, ~starts | date 5 100 | begins on {v}; starts on {v}; meets for the first time on {v} | when it begins
weekday, day of the week, ~every | of Mondays, Tuesdays, Wednesdays, Thursdays, Fridays, Saturdays, Sundays | meets on {v}; takes place on {v} | the day of the week
sessions, number of lessons, ~times | int 2 24 sessions,lessons | has {v}; consists of {v}; is made up of {v}
fee, tuition, price | money 20 900 | costs {v}; has a fee of {v}; can be taken for {v} | what one pays
places, seats, maximum participants | int 5 60 places | has {v}; offers {v}
level, ~for | choice | beginner: needs no previous knowledge; is for people who have never tried it / intermediate: builds on the basics; is for people with some practice / advanced: is for experts; requires a lot of practice
certificate, ~with certificate | flag | yes: ends with a certificate; leads to a diploma; ^with certificate; ^you get a certificate / no: gives no certificate; ends without a certificate; ^no certificate; ^without certificate
full, ~booked out | flag | yes: is full; has a waiting list; ^full; ^fully booked; ^waiting list only / no: still has places; can still be joined; ^places left; ^there is still room; ^sign up now
@venue @registration_deadline
= {teacher} teaches {course title} on {weekday}
= {course title} with {teacher} costs {fee}
= {course title} begins on {first day}

grant, research grant, award; thing; grants
*grant number, funding code | code G-####, ERC-####, ##@###, RG/###
recipient, grantee, ~awarded to | person | went to {v}; was awarded to {v}; supports {v}; {v} received {s} | who gets the money
funder, foundation, ~funded by | org | comes from {v}; was awarded by {v}; is paid by {v} | who gives the money
amount, sum, funding | money 2000 4000000 | is worth {v}; provides {v}; amounts to {v} | how much it is
project, purpose, ~for | work | pays for the project {v}; supports the study {v} | what it pays for
term in years, duration, ~years | span 1 7 years | runs for {v}; covers {v}; lasts {v} | how long it runs
application date, ~submitted on | date -400 -100 | was applied for on {v}; was requested on {v}
decision date, ~decided on | date -90 -1 | was approved on {v}; was decided on {v}
institution, university, ~held at | org | is held at {v}; is administered by {v} | where the work is done
renewable, ~can be extended | flag | yes: can be extended; may be renewed / no: cannot be extended; ends for good after that
= {funder} gives {recipient} {amount} for {project}
= {recipient} has won {amount} from {funder}
= {recipient} of {institution} receives {amount}

sensor, measuring station, probe; thing; sensors, stations
*sensor ID, device ID, station | code S##, TH-####, node-##, @@_##
@location @last_service @battery_life @temperature @manufacturer @serial_number
quantity measured, measures, ~type | of humidity, air pressure, water level, vibration, light, wind, radiation, smoke, soil moisture | measures {v}; records {v}; keeps track of {v} | what it measures
last reading, value, reading | num 0.1 900 1 | showed {v}; last read {v}; reported {v}
readings, measurements, log | rows readings 2-4 | recorded {v}; showed {v}
interval in seconds, sampling interval, ~every | span 1 600 seconds | reports every {v}; measures every {v}
battery level, battery, ~charge | int 1 100 % | has {v} of battery left; is charged to {v}
threshold, alarm limit | num 1 90 1 | raises an alarm above {v}; has its limit at {v}
online, ~connected | flag | yes: is online; is sending data / no: is offline; has stopped sending data
!install installed installed installation installer | by on in
!calibrate calibrated calibrated calibration calibrator | by on
= {sensor ID} in {location} measures {quantity measured}
= {sensor ID} last showed {last reading}

football match, match, game; event; matches, games
home team, ~home, hosts | of Rovers, Harbour City, FC Linden, Eastbrook, Olympic, Real Vega, Northgate, SV Aurach, Blue Stars, Kingsmead United | was hosted by {v}; was played at the ground of {v} | who played at home
away team, ~away, visitors | of Wanderers, Inter Castell, SC Moor, Dynamo, Athletic, Redfield Town, AC Porta, Union Berg, Lakeside, Real Sol | brought {v} as visitors; had {v} as the visiting team | who came as visitors
final score, score, result | score | ended {v}; finished {v}; was decided {v}
half-time score, ~HT | score | stood at {v} at half-time; was {v} at the break
date, match day, ~played on | date -400 -1 | was played on {v}; took place on {v} | when it was played
stadium, ground, ~venue | of Hill Park, Arena Nord, Mill Lane Ground, the Olympic Stadium, Riverside, Old Quarry | was played at {v}; took place at {v}
attendance, spectators, crowd | int 90 80000 spectators,people | was watched by {v}; drew {v} | how many watched
referee, ~refereed by | person | was refereed by {v}; had {v} as referee; {v} refereed {s} | who led the match
best player, man of the match, ~MVP | person | saw {v} as the best player; was shaped by {v} | who played best
scorers, goal scorers | list 1-4 person | saw goals by {v}; was decided by goals from {v}
yellow cards, bookings | int 1 9 | saw {v} yellow cards; brought {v} bookings
extra time, ~overtime | flag | yes: went to extra time; was not decided after ninety minutes / no: was decided within ninety minutes; needed no extra time
= {home team} against {away team} ended {final score}
= {home team} {final score} {away team}
= {home team} met {away team} on {date}
= {referee} led {home team} against {away team} at {stadium}
= {best player} shone as {home team} met {away team}

plant, houseplant, tree; thing; plants, trees; the {v}
*species, plant, name | of silver birch, peace lily, snake plant, Norway maple, dwarf cherry, rubber fig, sweet basil, wild rose, holm oak, monstera, tree fern, blue hyssop, bog myrtle
@height @origin @price @keeper @location
family, plant family | of Rosaceae, Araceae, Fagaceae, Lamiaceae, Moraceae, Betulaceae, Ericaceae | belongs to the family {v}; is one of the {v}
light, light needs | choice | full_sun: wants full sun; thrives in bright light all day / half_shade: likes half shade; does well with sun for part of the day / shade: stays in the shade; does not tolerate direct sun
watering interval in days, ~water every | span 1 30 days | is watered every {v}; needs water every {v}
flowering month, ~flowers in | of April, May, June, July, August, September, March | flowers in {v}; blooms in {v} | when it flowers
poisonous, toxic | flag | yes: is poisonous; should be kept away from children / no: is harmless; is not poisonous
minimum temperature, ~hardy to | int -30 15 °C | survives down to {v}; tolerates {v} | how cold it may get
!plant planted planted planting planter | by on in
!prune pruned pruned pruning gardener | by on
= {keeper} waters the {species} every {watering interval in days}
= the {species} from {origin} stands {height} tall

pet, dog, cat; thing; pets, animals; {v}
*name, pet name, ~called | of Bello, Misty, Rex, Luna, Biscuit, Shadow, Tiger, Nala, Pepper, Oskar, Kiwi, Ginger, Socks, Bruno
@owner @weight @colour
breed, race | of beagle, Siamese, border collie, dachshund, Maine Coon, poodle, British shorthair, labrador, terrier | is a {v}; was registered as a {v} | what breed it is
age, age in years, ~years old | int 1 18 | is {v} years old; is {v}; turned {v} in spring
chip number, microchip, ~chip | code ###############, ### ### ###, CHIP-##### | has the chip number {v}; carries the chip {v}
vet, veterinarian, ~treated by | person | is treated by {v}; sees {v} when ill | who treats it
food, diet, ~eats | of dry food, raw meat, tinned fish, rice and chicken, senior mix, hay | eats {v}; is fed {v}; lives on {v}
neutered, castrated | flag | yes: has been neutered; is castrated; ^neutered / no: has not been neutered; is intact; ^not neutered
house-trained, ~clean | flag | yes: is house-trained; never leaves a mess / no: is not house-trained yet; still leaves puddles
!adopt adopted adopted adoption adopter | by on
!vaccinate vaccinated vaccinated vaccination vaccinator | by on
= {owner} has a {breed} called {name}
= {name} is a {breed} and belongs to {owner}
= {owner}'s {breed} {name} weighs {weight}

auction lot, lot; thing; lots; lot {v}, lot no. {v}
*lot number, lot, ~no | code ###, %##, L-###
object, item, ~what | of a walnut bureau, a silver teapot, a pair of candlesticks, a pocket watch, a stamp album, a Persian rug, an oil portrait, a set of maps, a bronze bust, a violin | consists of {v}; is {v} | what is sold
estimate, estimated price, ~valued at | money 40 60000 | is estimated at {v}; is expected to bring {v} | what it is expected to bring
starting price, opening bid, ~starts at | money 10 30000 | opens at {v}; starts at {v}; has a first bid of {v} | the first bid
hammer price, final price, ~sold for | money 40 90000 | went for {v}; sold for {v}; was knocked down at {v} | what it was sold for
buyer, winning bidder, ~bought by | person | went to {v}; was bought by {v}; {v} bought {s} | who bought it
seller, consignor, ~consigned by | person | comes from {v}; was put up by {v}; {v} put {s} up for sale | who sold it
number of bids, bids | int 1 60 bids | drew {v}; attracted {v}
auction date, ~auctioned on | date -100 60 | comes under the hammer on {v}; was called on {v}
withdrawn, ~taken back | flag | yes: was withdrawn; is no longer for sale / no: was not withdrawn; stays in the sale
@condition @storage_place
= {buyer} paid {hammer price} for {object}
= lot {lot number}, {object}, went to {buyer}
= {seller} hopes to get {estimate} for {object}

insurance policy, policy; thing; policies
*policy number, policy no | code POL-#####, ##-####-##, VN######, L####-##
policyholder, insured person, ~holder | person | was taken out by {v}; covers {v}; {v} took {s} out | who is insured
insurer, insurance company | org | is with {v}; was issued by {v}; {v} issued {s} | who insures
premium, yearly premium, ~per year | money 30 3000 | costs {v} a year; has a premium of {v} | what it costs a year
sum insured, coverage, ~covers up to | money 5000 3000000 | covers damage up to {v}; pays up to {v} | the most that is paid
deductible, excess | money 50 2000 | leaves {v} to the holder; has an excess of {v} | what the holder pays
start date, ~valid from | date -400 60 | is valid from {v}; took effect on {v} | from when it holds
end date, ~valid until, expiry | date 100 1500 | expires on {v}; is valid until {v} | until when it holds
what is insured, risk, type | choice | car: covers a car; protects against damage on the road / home: covers house and furniture; protects against burglary and fire / travel: covers trips abroad; helps when a suitcase is lost / life: pays if the holder dies
cancelled, terminated | flag | yes: has been cancelled; was terminated / no: is in force; has not been cancelled
= {policyholder} pays {premium} a year to {insurer}
= {insurer} covers {policyholder} up to {sum insured}

insurance claim, claim, damage report; thing; claims
*claim number, claim ID | code CL-######, ####-####, SCH####, D-####
^claimant, ~claimed by, policyholder | person | was filed by {v}; comes from {v}; {v} filed {s} | who asks for money
date of damage, accident date, ~happened on | date -200 -30 | concerns damage that happened on {v}; goes back to an accident on {v} | when the damage happened
claim date, ~reported on, ~filed on | date -29 -1 | was filed on {v}; came in on {v} | when it was reported
cause, ~what happened | cause | was caused by {v}; goes back to {v}; is about {v} | what caused the damage
amount claimed, damage, ~claimed | money 50 80000 | asks for {v}; is over {v}; puts the damage at {v} | how much is asked for
amount paid, payout, ~paid out | money 20 60000 | led to a payment of {v}; was paid with {v} | how much was paid
adjuster, ~handled by, case worker | person | is handled by {v}; was inspected by {v}; {v} is looking into {s} | who deals with it
police report, police reference | code ST/####/##, P-#####, ###-##-# | has the police reference {v}
status, decision | choice | approved: was approved; will be paid / rejected: was turned down; will not be paid / open: is being examined; waits for more documents
= {claimant} asks for {amount claimed} after {cause}
= after {cause} on {date of damage}, {claimant} claimed {amount claimed}

subscription, plan, membership; thing; subscriptions, memberships
subscriber, member, ~account holder | person | belongs to {v}; runs in the name of {v}; {v} holds {s} | who has it
plan name, plan, tariff | of Basic, Premium, Family, Student, Pro, Team, Unlimited, Starter | is the {v} plan; runs on the {v} tariff
monthly price, monthly fee, ~per month | money 2 120 | costs {v} a month; is billed at {v} a month | what it costs a month
renewal date, ~renews on, next billing | date 5 360 | renews on {v}; will be billed again on {v} | when it is renewed
start date, ~since, ~member since | date -1500 -20 | began on {v}; has been running since {v} | since when
customer number, account ID | code K-######, ########, ACC-#### | has the customer number {v}; runs under {v}
devices, number of devices, ~screens | int 1 10 devices | can be used on {v}; allows {v}
payment method, ~paid by | choice | card: is charged to a credit card / invoice: is paid by invoice; is billed on paper / paypal: is paid through PayPal / debit: is collected from a bank account
auto-renewal, ~renews automatically | flag | yes: renews by itself; is extended automatically / no: ends by itself; is not extended automatically
cancelled, ~ended | flag | yes: has been cancelled; was ended by the customer / no: is active; has not been cancelled
= {subscriber} pays {monthly price} a month for the {plan name} plan
= {subscriber} has been on the {plan name} plan since {start date}

donation, gift; thing; donations, gifts
donor, ~donated by, ~given by | person | was made by {v}; comes from {v}; {v} made {s} | who gave
recipient, charity, ~given to | org | went to {v}; is meant for {v}; supports {v} | who got it
amount, sum | money 5 20000 | is over {v}; amounts to {v}; came to {v} | how much was given
date, ~received on | date -300 -1 | was made on {v}; arrived on {v} | when it was given
purpose, cause, ~for | of a new roof, clean water, the animal shelter, school books, flood relief, the library, tree planting, a lifeboat | pays for {v}; is meant for {v}; was given for {v} | what it is to be used for
receipt number, ~receipt | code D-####, ####/###, R##### | has the receipt number {v}
anonymous, ~anonymously | flag | yes: is to stay anonymous; must not be named in public / no: may be named in public; is not anonymous
monthly, ~recurring | flag | yes: is repeated every month; comes every month / no: was made once; will not be repeated
= {donor} gave {amount} to {recipient}
= {recipient} received {amount} from {donor} for {purpose}

building, bridge, tower; thing; buildings, bridges; {v}
*name, building, ~structure | of Linden Tower, the Harbour Bridge, Villa Marta, the Corn Exchange, Kestrel House, the North Viaduct, Palais Orlov, the Glass Mill, Fort Aldine, the Round Barn
@location @height @year_of_construction @owner @material @area
floors, storeys, number of floors | int 1 90 floors,storeys | has {v}; rises over {v}
building cost, construction cost, ~cost | money 90000 400000000 | cost {v} to build; was put up for {v} | what it cost to build
use, purpose, ~used as | of offices, flats, a school, a theatre, storage, a hospital, a hotel, a market hall | is used for {v}; houses {v} | what it is used for
listed, protected | flag | yes: is a protected monument; is listed / no: is not protected; is not listed
!design designed designed design architect | by on
!open opened opened opening opener | by on
!renovate renovated renovated renovation renovator | by_org on
= {name} in {location} was built in {year of construction}
= {name}, {height} high, stands in {location}

machine, device, pump; thing; machines, devices
*machine number, asset tag, ~tag | code M-###, A#####, PX-##, ##-@@-#
@manufacturer @serial_number @power @voltage @weight @location @last_service @maximum_load @noise_level @warranty @year_of_construction
operating hours, running hours, ~hours | int 10 60000 hours,h | has run for {v}; shows {v} on the counter
error code, fault code, ~error | code E##, F-###, 0x##, ERR_## | reports the error {v}; shows the fault {v}
operator, ~operated by | person | is operated by {v}; is run by {v}; {v} works with {s} | who works with it
remark, note, ~remarks | fault | was left with the note that {v}; comes with the remark that {v}; is said to have a problem: {v} | what somebody noted about it
state, status | choice | running: is in operation; works normally / stopped: stands still; has been switched off / maintenance: is being serviced; is open for repair / broken: broke down; is out of order
!install installed installed installation installer | by on in
!repair repaired repaired repair repairer | by on
!inspect inspected inspected inspection inspector | by on
= {operator} runs machine {machine number} in {location}
= machine {machine number} by {manufacturer} draws {power}

expense, expense claim, receipt; thing; expenses, receipts
^employee, ~claimed by, ~submitted by | person | was handed in by {v}; comes from {v}; {v} handed in {s} | who spent the money
merchant, shop, ~paid at, store | org | was paid at {v}; comes from a purchase at {v} | where the money was spent
amount, total, ~spent | money 2 2500 | is over {v}; amounts to {v}; came to {v} | how much was spent
date, ~spent on, receipt date | date -60 -1 | dates from {v}; was incurred on {v} | when the money was spent
category, ~type | choice | travel: is for a train ticket; covers a taxi ride / meals: is for a dinner with clients; covers lunch / office: is for pens and paper; covers printer ink / lodging: is for a night in a hotel; covers a room
cost centre, ~charged to | code ####, KS-###, CC-####, ##.## | is charged to {v}; goes to the cost centre {v}
receipt attached, ~with receipt | flag | yes: comes with a receipt; has the receipt attached; ^receipt attached; ^see receipt / no: comes without a receipt; lacks the receipt; ^no receipt; ^receipt missing; ^lost the receipt
items, purchases, articles | rows items 1-3 | covers {v}; lists {v}
approved, ~accepted | flag | yes: has been approved; was accepted; ^approved; ^go ahead; ^signed off / no: has not been approved; was turned down; ^not approved; ^rejected; ^sorry, we cannot accept it
approver, ~approved by | person | lies with {v} for approval; has to be signed off by {v} | who decides about it
= {employee} spent {amount} at {merchant}
= {employee} paid {merchant} {amount} on {date}
= {approver} has to approve the {amount} that {employee} spent
= {employee} hands in {amount} from {merchant}

product review, review; thing; reviews
^reviewer, author, ~reviewed by | person | was written by {v}; comes from {v}; {v} wrote {s} | who wrote it
product, item, ~reviewed product | product | is about the {v}; deals with the {v} | what it is about
stars, rating, ~score | int 1 5 stars | gives {v}; awards {v} | how many stars it gives
date, ~posted on | date -600 -1 | was posted on {v}; dates from {v} | when it was posted
pros, advantages, ~good | list 1-3 of quiet motor, long cable, low price, sturdy handle, bright display, quick delivery, nice colour, easy cleaning | praises {v}; likes {v}; names {v} as good points
cons, disadvantages, ~bad | list 1-3 of short battery life, thin manual, weak suction, loud beep, sharp edges, heavy lid, poor packaging, slow start | criticises {v}; dislikes {v}; names {v} as weak points
comment, text, ~says | fault | says that {v}; notes that {v}; ends with the remark that {v} | what the review says in words
sentiment, ~tone | choice | positive: is full of praise; ends with the words "I would buy it again" / negative: is a warning to others; ends with the words "never again" / mixed: sees good and bad sides; cannot make up its mind
verified purchase, ~verified | flag | yes: comes from a verified buyer / no: does not come from a verified buyer
helpful votes, ~found helpful | int 0 400 votes | got {v} as helpful; collected {v}
= {reviewer} gives the {product} {stars}
= {reviewer} on the {product}: {stars}

appointment, booking, visit; event; appointments, visits
customer, patient, client, ~for | person | was made for {v}; is with {v}; {v} booked {s} | who comes
provider, ~with, specialist | person | is with {v} on our side; will be handled by {v}; {v} will carry out {s} | whom the customer sees
date and time, start, ~when | moment 1 120 | is {on}; takes place {on}; was fixed for {v} | when it is
reason, treatment, ~for what | of a haircut, a dental check, an eye test, a tax consultation, a boiler check, a passport photo, a driving lesson, a massage, a fitting | is for {v}; was booked for {v} | what it is for
place, office, ~where | site | takes place at {v}; is held at {v}
fee, cost, price | money 10 400 | costs {v}; is charged at {v}
first visit, new customer | flag | yes: is the first one; is for a new customer; ^new here; ^never been before / no: is not the first one; is for a regular customer; ^a regular; ^not for the first time
confirmed, ~confirmation | flag | yes: has been confirmed; is confirmed; ^confirmed; ^see you there; ^it is all set / no: still has to be confirmed; is not confirmed; ^not confirmed yet; ^please confirm; ^still to be confirmed
@duration_in_minutes @phone_number
= {customer} sees {provider} on {date and time}
= {provider} expects {customer} for {reason}
= {customer} has booked {reason} for {date and time}
= {customer}, {reason}, {date and time}
= we have put you down for {reason} with {provider}

team, sports club, club; company; teams, clubs
*team, name, club | of Rovers, Harbour City, FC Linden, Eastbrook, Olympic, Real Vega, Northgate, SV Aurach, Blue Stars, Kingsmead United, Wanderers
@founding_year @headquarters @revenue @website @offices
coach, trainer, ~coached by | person | is coached by {v}; is trained by {v}; {v} coaches {s} | who trains it
captain, ~led by | person | is led by {v} on the field; has {v} as its captain; {v} captains {s}
players, squad, roster | rows players 2-4 | fields {v}; relies on {v}
league, division, ~plays in | of the First Division, the Northern League, the Premier League, the Regional League, Serie C, the Second Division | plays in {v}; was promoted to {v} | where it plays
points, ~pts | int 0 90 points | has {v}; stands at {v}
rank, position, place in the table | int 1 20 | is on place {v}; stands at number {v}
members, number of members | int 20 90000 members | has {v}; counts {v}
colours, club colours | list 2-2 of red, white, black, blue, green, yellow, orange, purple | plays in {v}
= {coach} trains {team} of {league}
= {team} is number {rank} in {league} with {points}

trip, journey, tour; event; trips, tours
traveller, ~booked by, guest | person | was booked by {v}; is being made by {v}; {v} is going on {s} | who travels
destination, ~to, goal | place | leads to {v}; goes to {v}; ends in {v} | where it goes
starting point, ~from, departure | place | starts in {v}; sets out from {v} | where it begins
departure date, ~leaving on, first day | date 5 100 | begins on {v}; starts on {v} | when it begins
return date, ~back on, last day | date 101 130 | ends on {v}; brings everyone back on {v} | when it ends
price, cost per person, ~pp | money 50 6000 | costs {v}; can be booked for {v}; comes to {v} per person
stages, legs, route | rows legs 1-3 | goes {v}; takes this route: {v}
means of transport, ~by | choice | train: is made by rail; uses night trains / plane: is made by air; includes flights / bus: is made by coach / ship: is made by sea; uses ferries
guide, tour guide, ~guided by | person | is guided by {v}; is led by {v}; {v} guides {s}
group size, travellers, number of people | int 2 60 people | is limited to {v}; takes {v} along
visa required, ~visa | flag | yes: requires a visa; ^visa required; ^do not forget your visa / no: needs no visa; can be made without a visa; ^no visa needed; ^visa-free
= {traveller} travels from {starting point} to {destination}
= {traveller} leaves for {destination} on {departure date} and returns on {return date}
= {destination} for {price}, {departure date} to {return date}
= {traveller} is off to {destination} on {departure date}

task, to-do, work item; thing; tasks, to-dos; the task "{v}", the item "{v}"
*title, task, ~what | errand
assignee, ~assigned to, ~owner, person responsible | person | is up to {v}; was given to {v}; lies with {v}; {v} takes care of {s} | who has to do it
^requester, ~requested by, ~asked by | person | was asked for by {v}; comes from {v}; {v} wants {s} done | who wants it done
due date, deadline, ~due | date 1 90 | is due on {v}; has to be done by {v}; must be finished by {v} | until when
estimated hours, effort, ~hours | num 0.5 60 1 hours,h | will take {v}; is estimated at {v} | how long it will take
status, progress | choice | todo: has not been started; waits for its turn / doing: is being worked on; is under way / done: is finished; has been ticked off / blocked: is stuck; cannot go on
priority, importance | choice | low: can wait; is not pressing / normal: is of ordinary importance / high: comes first; is very pressing
project, ~part of | work | belongs to the project {v}; is part of {v}
tags, labels | list 1-3 pool nouns | is tagged {v}; carries the tags {v}
= {requester} asked {assignee} to {title}
= {assignee} has to {title} by {due date}
= {assignee} will {title}; {requester} needs it by {due date}
= {title}: {assignee}, until {due date}

wine, bottle; thing; wines, bottles; the wine {v}, {v}
*wine, name, label | work
@price @rating @in_stock @origin
grape, grape variety | of Riesling, Merlot, Pinot Noir, Chardonnay, Syrah, Tempranillo, Grüner Veltliner, Malbec | is made from {v}; is a pure {v}
vintage, year | year 1985 2023 | is from {v}; was harvested in {v}; is a {v} | the year of the harvest
alcohol, alcohol content, ~vol | num 9 15 1 %,percent | has {v} of alcohol; contains {v} alcohol
winery, producer, estate, ~made by | org | comes from {v}; was bottled by {v}; {v} makes {s} | who makes it
region, ~from | place | comes from around {v}; grew near {v} | where it grew
sweetness, taste | choice | dry: is bone dry; leaves no sweetness / medium: is slightly sweet; is off-dry / sweet: is a dessert wine; tastes like honey
serving temperature, ~serve at | int 6 19 °C | should be served at {v}; tastes best at {v}
bottle size, ~ml | int 375 1500 ml | comes in {v}; is filled into {v}
= {winery} made {wine} from {grape} in {vintage}
= {wine} {vintage} ({grape}), {price}

network device, router, server; thing; servers, devices, hosts; {v}, the host {v}, the machine {v}
*host name, hostname, device name | code srv-##, db%, node-@#, web-##, gw-%
IP address, address, ~ip | code 10.#.#.##, 192.168.%.##, 172.16.%.# | has the address {v}; answers on {v}; listens at {v}
operating system, OS | of Debian 12, Ubuntu 22.04, Windows Server 2022, FreeBSD 14, Rocky Linux 9, Alpine 3.19 | runs {v}; was set up with {v}
memory, RAM, ~GB of memory | int 1 512 GB | has {v} of memory; is fitted with {v} of RAM
disk usage, disk used, ~disk | int 1 99 % | has filled its disk to {v}; uses {v} of the disk
uptime in days, uptime | span 1 900 days | has been up for {v}; has not been restarted for {v}
port, port number | int 80 65000 | listens on port {v}; can be reached on port {v}
administrator, admin, ~managed by | person | is managed by {v}; is looked after by {v}; {v} manages {s} | who looks after it
reachable, ~up | flag | yes: answers; can be reached / no: does not answer; cannot be reached
environment, stage | choice | production: serves real customers; is live / staging: is used to rehearse releases; mirrors the real thing / test: is only for experiments
@location @last_service
= {administrator} moved {host name} to {IP address}
= {host name} ({IP address}) runs {operating system}

news item, announcement, takeover; event; announcements, takeovers
buyer, acquirer, ~acquired by | org | was announced by {v}; makes {v} the new owner | who buys
target, acquired company, ~company bought | org | concerns {v}; puts {v} in new hands | which company is bought
price, deal value, ~deal worth | money 500000 900000000 | is worth {v}; cost {v}; has a value of {v} | what is paid
announcement date, ~announced on | date -400 -1 | was made public on {v}; was announced on {v} | when it was made known
closing date, ~closes on | date 1 300 | will be completed on {v}; closes on {v} | when it is completed
jobs affected, employees affected | int 10 9000 jobs,employees | affects {v}; touches {v}
adviser, ~advised by | org | was advised by {v}; was arranged by {v}
approved, ~cleared by authorities | flag | yes: has been cleared by the authorities / no: still needs the approval of the authorities
= {buyer} buys {target} for {price}
= {buyer} has agreed to take over {target}
= {target} is to become part of {buyer} by {closing date}
= {buyer} said on {announcement date} it would buy {target}

train connection, train, bus; thing; trains, connections; {v}, the {v}
*train number, line, ~train | code IC ###, RE %, ICE ###, @%, Bus ##, S%
origin, departure station, ~from | place | +from {v}; starts in {v}; leaves from {v}; sets off from {v} | where it leaves
destination, final stop, ~to | place | +to {v}; goes to {v}; runs to {v}; terminates in {v} | where it ends
departure, departure time, ~dep | time | leaves at {v}; departs at {v}; pulls out at {v} | when it leaves
arrival, arrival time, ~arr | time | arrives at {v}; gets in at {v}; is due in at {v} | when it arrives
platform, track | code %, %@, ## | leaves from platform {v}; stands on track {v}
delay in minutes, delay, ~late by | span 2 120 minutes,min | is {v} late; runs {v} behind schedule | how late it is
stops, ~calls at, via | list 2-4 place | calls at {v}; runs via {v}; stops in {v} | where it stops on the way
changes, number of changes | int 1 4 | requires {v} changes; involves {v} changes
fare, price, ticket | money 3 190 | costs {v}; can be booked for {v}
cancelled, ~does not run | flag | yes: does not run today; was cancelled / no: runs as planned; is not cancelled
= {train number} from {origin} to {destination} leaves at {departure}
= take the {train number} at {departure} from platform {platform}
= {origin} {departure} – {destination} {arrival}

coffee, tea, blend; thing; coffees, teas; the blend {v}, {v}
*name, blend, ~coffee | work
@origin @price @weight @in_stock @rating
roaster, ~roasted by | org | is roasted by {v}; comes from the roastery {v}; {v} roasts {s} | who roasts it
altitude, growing altitude, ~grown at | int 600 2400 m,metres | grows at {v}; comes from {v} above the sea
farmer, grower, ~grown by | person | is grown by {v}; comes from the fields of {v} | who grows it
flavours, notes, ~tastes of | list 2-3 of cherry, dark chocolate, walnut, bergamot, caramel, jasmine, plum, orange peel, honey | tastes of {v}; has notes of {v}
roast date, ~roasted on | date -60 -1 | was roasted on {v} | when it was roasted
caffeine, decaf, ~decaffeinated | choice | regular: keeps you awake; contains caffeine / decaf: contains no caffeine; lets you sleep
organic, ~bio | flag | yes: is grown organically; ^organic; ^certified organic / no: is not organic; ^not organic; ^conventional farming
= {farmer} grows {name} at {altitude}
= {roaster} sells {name} for {price}

complaint, letter of complaint; thing; complaints
*complaint number, reference | code B-####, C####/##, ##-##-##
^customer, complainant, ~from | person | comes from {v}; was sent in by {v}; {v} wrote {s} | who complains
company, ~against, addressee | org | is directed at {v}; was sent to {v} | who is complained about
reason, grievance, ~about | cause | is about {v}; was caused by {v} | why the customer complains
demand, ~asks for, remedy | choice | refund: asks for the money back; wants a full refund / replacement: asks for a new one; wants it exchanged / apology: wants someone to say sorry; only asks for an apology
date received, ~received | date -60 -1 | arrived on {v}; was received on {v} | when it came in
amount, sum in question | money 5 900 | is about {v}; concerns {v}
employee in charge, ~handled by | person | is handled by {v}; was passed to {v} | who deals with it
answered, ~replied | flag | yes: has been answered / no: has not been answered yet; is still waiting for a reply
= {customer} is upset about {reason}
= {customer} complains to {company} about {reason}

scholar, researcher, professor; person; researchers, scholars
*name, researcher | person
@degree @email @languages @birthplace @nationality @website
field, discipline, research area | of marine ecology, medieval history, number theory, labour law, glaciology, linguistics, organic chemistry, game theory | works on {v}; does research in {v}; is an expert in {v}
institution, university, ~affiliation | org | teaches at {v}; is based at {v}; holds a chair at {v} | where the person works
publications, number of papers, papers | int 3 400 papers,articles | has published {v}; wrote {v}
h-index, citation index | int 2 90 | has an h-index of {v}
doctoral adviser, ~advised by | person | wrote a thesis under {v}; was advised by {v}; {v} supervised the thesis | who supervised the thesis
on leave, sabbatical | flag | yes: is on leave this term; is away on sabbatical / no: is teaching this term
= {name} of {institution} works on {field}
= {institution} has appointed {name}, an expert in {field}
"""

_UNSEEN = """
chess game, game of chess; event; games
white, white player, ~played white | person | was played with White by {v}; {v} had the white pieces | who played White
black, black player, ~played black | person | was played with Black by {v}; {v} had the black pieces | who played Black
winner, ~won by | choice | white: was won by White; ended with Black laying down the king / black: was won by Black; ended with White laying down the king / draw: ended in a draw; was given up as equal
opening, ~opening played | of the Sicilian Defence, the Queen's Gambit, the Ruy Lopez, the French Defence, the Caro-Kann, the English Opening | began with {v}; followed {v} | how it began
moves, number of moves | int 12 120 moves | took {v}; was over after {v}
tournament, ~played at | of the Linden Open, the City Championship, the Winter Cup, the Candidates Tournament | was played at {v}; was part of {v} | where it was played
round, ~rd | int 1 11 | was played in round {v}
arbiter, ~refereed by | person | was watched over by {v}; had {v} as arbiter
time control in minutes, ~minutes per side | span 3 120 minutes | allowed {v} per side
= {white} played White against {black}
= {white} – {black}, round {round}, {opening}

ship, vessel, freighter; thing; ships, vessels; {v}, the {v}
*name, ship, ~vessel | of MV Aurora, Northern Star, SS Calder, Santa Lucia, Ever Bright, Baltic Trader, Queen Maud, Orla
IMO number, registration | code IMO #######, @@@-### | is registered as {v}
flag, flag state, ~sails under | pool countries | sails under the flag of {v}; is flagged in {v}
captain, master, ~commanded by | person | is commanded by {v}; sails under {v}; {v} commands {s} | who commands it
cargo, ~carrying, load | of iron ore, bananas, crude oil, grain, timber, cars, cement, frozen fish | carries {v}; is loaded with {v}
tonnage, gross tonnage, ~GT | int 300 200000 tonnes | has {v}; displaces {v}
port of departure, ~sailed from | place | left {v}; set out from {v} | where it came from
next port, ~bound for | place | is bound for {v}; is heading for {v} | where it is going
crew, crew size | int 4 60 sailors,men | has a crew of {v}; is manned by {v}
launch year, ~launched | year 1950 2022 | was launched in {v}; left the yard in {v}
!inspect inspected inspected inspection inspector | by on in
= {captain} takes {name} from {port of departure} to {next port}
= {name} left {port of departure} with {cargo}

mountain hike, trail, hike; thing; trails, hikes; the {v}, {v}
*name, trail | of Ridge Loop, Eagle Path, Three Lakes Trail, Old Pass Route, Cinder Walk, Fern Gully Trail
distance, length, ~km | num 2 60 1 km | is {v} long; covers {v}
ascent, elevation gain, ~up | int 50 2400 m,metres | climbs {v}; gains {v} of height
highest point, summit | of Mount Kell, Grey Tooth, the Saddle, Hollow Peak, Lark Tor | reaches its highest point at {v}; goes over {v}
hours needed, walking time | num 1 12 1 hours | takes {v}; can be walked in {v}
trailhead, starting point, ~starts at | place | starts in {v}; sets out from {v}
difficulty, grade | choice | easy: is fine for families; is an easy walk / moderate: needs sure feet; is moderately hard / hard: is for the fit only; includes climbing
dogs allowed, ~dogs | flag | yes: welcomes dogs / no: is closed to dogs
open season, ~season | of May to October, all year, June to September, spring only | is open {v}
hut, shelter | of Birch Hut, Stone Refuge, the Saddle Cabin | passes {v}; has a shelter at {v}
= {name} is {distance} long and climbs {ascent}
= from {trailhead} it takes {hours needed}

election result, election, vote; event; elections
winner, elected candidate, ~elected | person | was won by {v}; went to {v}; brought {v} into office | who was elected
runner-up, ~second | person | left {v} in second place; was lost by {v} | who came second
office, post, ~elected as | of mayor, treasurer, club president, school speaker, head of the council | was held for the post of {v} | the post
votes for the winner, winning votes | int 30 90000 votes | gave the winner {v}
turnout, ~turnout in percent | num 20 95 1 %,percent | had a turnout of {v}; brought {v} to the polls
polling day, ~held on | date -900 -1 | was held on {v}; took place on {v} | when people voted
spoiled ballots, invalid votes | int 0 900 | produced {v} spoiled ballots
runoff needed, ~runoff | flag | yes: has to be repeated in a second round / no: was decided in the first round
= {winner} beat {runner-up}
= {winner} is the new {office}

satellite, space probe, mission; thing; satellites, probes; {v}
*name, satellite, ~mission | of Helios 4, Wren-2, AquaSat, Polar Eye, Lyra 1, Gaia Minor
launch date, ~launched on | date -4000 -30 | was launched on {v}; lifted off on {v} | when it was launched
launch site, ~launched from | place | was launched from {v}; lifted off near {v}
rocket, launch vehicle | of Vega C, Falcon 9, Soyuz, Electron, Ariane 6 | was carried up by {v}; rode on {v}
orbit height, altitude, ~km above ground | int 300 36000 km | circles the Earth at {v}; flies at {v}
mass, launch mass | int 5 6000 kg | had a mass of {v} at launch
mission cost, ~cost | money 900000 900000000 | cost {v}
chief scientist, ~led by | person | is led by {v}; {v} leads {s}
builder, prime contractor | org | was built by {v}; {v} built {s}
still active, ~working | flag | yes: is still sending data; works to this day / no: fell silent; has been switched off
purpose, ~observes | of ocean currents, forest fires, ice sheets, space weather, shipping routes | observes {v}; was sent up to watch {v}
= {rocket} carried {name} into orbit on {launch date}
= {builder} built {name}

choir, orchestra, band; company; choirs, bands
*name, choir, ensemble | of Vox Nova, the Linden Singers, Cantus 12, Harbour Chorus, the Copper Strings, Aria Viva
conductor, ~conducted by | person | is conducted by {v}; is directed by {v}; {v} conducts {s} | who conducts
singers, members, number of members | int 6 140 singers,members | has {v}; counts {v}
rehearsal day, ~rehearses on | of Mondays, Tuesdays, Wednesdays, Thursdays, Fridays, Sundays | rehearses on {v}; meets on {v}
rehearsal room, ~rehearses in | site | rehearses in {v}; practises at {v}
next concert, ~next performance | date 5 120 | performs on {v}; can be heard on {v}
annual fee, membership fee | money 10 300 | charges {v} a year; costs {v} a year
repertoire, ~sings | of folk songs, baroque music, gospel, film music, madrigals | sings {v}; is known for {v}
auditions, ~audition required | flag | yes: holds auditions; takes only those who pass an audition / no: takes everybody; asks for no audition
founding year, ~founded in | year 1890 2022 | was founded in {v}; has existed since {v}

planning application, building permit, permit; thing; permits, applications
*permit number, file number | code BP-####, ##/####/P, PA-###-##
applicant, ~applied for by | person | was applied for by {v}; comes from {v}; {v} asked for {s} | who wants to build
site address, plot, ~for | street | concerns {v}; is for the plot at {v}
project, ~what is built | of a double garage, a roof terrace, a garden shed, a second storey, a solar roof, a stable | would allow {v}; is about {v} | what is to be built
submission date, ~submitted | date -300 -90 | was submitted on {v}; came in on {v}
decision date, ~decided | date -80 -1 | was decided on {v}
officer, case officer, ~examined by | person | was examined by {v}; is with {v} | who examines it
fee, application fee | money 30 4000 | cost {v} in fees
objections, number of objections | int 0 40 objections | drew {v}; met with {v}
decision, outcome | choice | granted: was granted; may go ahead / refused: was turned down; may not be built / deferred: was put off; will be looked at again
= {applicant} wants to build {project} at {site address}

beehive, hive, bee colony; thing; hives, colonies
*hive number, hive | code H##, B-##, hive-#
@keeper @location
queen's year, queen born | year 2018 2024 | has a queen from {v}
honey yield, honey harvested, ~kg of honey | num 2 70 1 kg | gave {v} of honey; yielded {v}
frames, brood frames | int 3 20 frames | has {v} of brood; fills {v}
mites, mite count, ~varroa | int 0 90 mites | dropped {v}; showed {v}
temper, mood | choice | calm: is gentle; lets itself be opened without a veil / nervous: runs about on the comb; gets restless quickly / aggressive: attacks at once; stings without warning
swarmed, ~swarm | flag | yes: swarmed this year; lost half its bees to a swarm / no: did not swarm
!feed fed fed feeding feeder | by on
!inspect inspected inspected inspection inspector | by on

crossword, puzzle, board game; thing; puzzles, games
*title, game | work
designer, ~designed by, inventor | person | was devised by {v}; comes from {v}; {v} invented {s} | who invented it
players, number of players | int 1 8 players | is for {v}; needs {v}
playing time, ~minutes | span 10 240 minutes,min | takes {v}; keeps people busy for {v}
minimum age, ~from age | int 4 16 | is meant for children from {v}; can be played from the age of {v}
box contents, ~contains | list 2-3 of dice, cards, wooden pawns, a map, tokens, an hourglass | contains {v}; comes with {v}
publisher, ~published by | org | is published by {v}; appeared at {v}
out of print, ~no longer sold | flag | yes: is out of print; can only be found second-hand / no: is still in print; can be bought new
@price @rating

fossil, dinosaur, find; thing; fossils, finds
*specimen, find number | code F-###, MZ ####, ##.@.#
species, ~identified as | of Trilobita minor, Ammonites, cave bear, giant sloth, sea lily, horned turtle | was identified as {v}; belongs to {v}
age in million years, ~million years old | num 2 500 0 million years | is {v} old; lived {v} ago
rock layer, formation | of Blue Lias, Red Marl, the Solnhofen beds, Coal Measures, Chalk | was found in {v}; lay in {v}
completeness, ~complete | int 5 100 % | is {v} complete; is preserved to {v}
museum, ~kept at | org | is kept at {v}; went to {v}
@length @weight
!discover discovered discovered discovery discoverer | by on in
!prepare prepared prepared preparation preparator | by on

blood donation, donation drive, donor visit; event; donations
donor, ~donated by | person | was given by {v}; {v} came in for {s} | who gave blood
blood group, blood type | code A+, A-, B+, 0+, 0-, AB+ | is of group {v}; has the group {v}
volume in ml, volume | int 250 550 ml | amounts to {v}; came to {v}
haemoglobin, ~Hb | num 11 18 1 g/dl | showed {v} of haemoglobin
nurse, ~taken by | person | was taken by {v}; {v} took care of {s} | who took it
bag number, ~bag | code ####-###, K######, B##-### | went into bag {v}
next possible date, ~next donation | date 50 120 | can be repeated on {v}
tolerated, ~went well | flag | yes: was well tolerated; went without problems / no: ended with a fainting donor; was not well tolerated

greenhouse crop, field, harvest; thing; harvests, fields
crop, ~grown, planted crop | of tomatoes, barley, cucumbers, lettuce, sugar beet, hops, maize | carries {v}; is planted with {v} | what grows there
field name, plot, ~field | of North Field, Mill Acre, House 3, Long Strip, Hollow Meadow | is called {v}; is known as {v}
yield in tonnes, ~yielded | num 0.5 90 1 tonnes,t | brought in {v}; yielded {v}
area in hectares, ~hectares | num 0.2 60 1 hectares,ha | covers {v}; extends over {v}
buyer, ~sold to | org | was sold to {v}; went to {v} | who buys the crop
fertiliser, ~fertilised with | of compost, potash, nitrogen, manure, bone meal | was treated with {v}; got {v}
irrigation, ~watered | flag | yes: is irrigated / no: depends on rain; is not irrigated
frost damage, ~frost | flag | yes: suffered from frost / no: came through the winter unharmed
!sow sowed sown sowing sower | by on
!harvest harvested harvested harvest harvester | by on
= {buyer} bought the {crop} from {field name}
= {field name}: {crop}, {yield in tonnes}

will, estate, inheritance; thing; wills, estates
testator, deceased, ~will of | person | was left by {v}; is that of {v} | who died
executor, ~executed by | person | is administered by {v}; names {v} as executor; {v} administers {s} | who carries it out
main heir, heir, ~goes to | person | names {v} as main heir; leaves the house to {v} | who gets most
value of the estate, estate value | money 3000 4000000 | is worth {v}; comes to {v}
notary, ~notarised by | person | was notarised by {v}; lies with {v} | who keeps it
place of deposit, ~kept at | place | is kept in {v}; was deposited in {v}
date of the will, ~written on | date -5000 -400 | was written on {v}; bears the date {v}
contested, ~disputed | flag | yes: is being contested; is disputed by the family / no: is not disputed by anyone
witnesses, ~witnessed by | list 2-3 person | was witnessed by {v}; bears the signatures of {v}
= {testator} left the house to {main heir}
= {executor} administers what {testator} left

podcast episode, episode, broadcast; work; episodes; the episode "{v}", {v}
*episode title, title | work
episode number, number, ~no | int 1 400 | is number {v} of the series; is episode {v}
host, presenter, ~hosted by | person | is hosted by {v}; is presented by {v}; {v} hosts {s} | who leads through it
guest, ~with | person | has {v} as its guest; features a talk with {v} | who was invited
length in minutes, ~min | span 5 180 minutes,min | lasts {v}; is {v} long
release date, ~aired on | date -600 -1 | went online on {v}; was aired on {v}
downloads, ~listens, number of downloads | int 20 900000 downloads,listeners | reached {v}; counts {v}
sponsor, ~supported by | org | is paid for by {v}; is supported by {v}
explicit, ~explicit language | flag | yes: contains strong language / no: is suitable for children
chapters, segments | rows chapters 2-3 | is divided into {v}
= {host} talks to {guest} in episode {episode number}
= in "{episode title}", {host} welcomes {guest}
"""

_LINES = {name: line for name, (_, line) in attribute_lines().items()}
KINDS: dict[str, Kind] = several_kinds(_KNOWN, _LINES)
UNSEEN: dict[str, Kind] = several_kinds(_UNSEEN, _LINES)
