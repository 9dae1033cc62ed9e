"""Recipes, which training never sees."""

from training.records.compound import choice, flag, part_of, records, several
from training.records.kind import Field, kind
from training.values import Fact, Scene, from_pool, integer, other_person, text_fact


def measure(scene: Scene) -> Fact:
    """Return an amount of an ingredient, as the string it is written as."""
    unit = scene.pick((" g", "g", " ml", " tbsp", " tsp", " cups"))
    return text_fact(f"{scene.rng.randrange(1, 12) * (10 if unit.strip() in ('g', 'ml') else 1)}{unit}")


INGREDIENTS = records(
    {
        "name": part_of(from_pool("ingredients"), "name, ingredient, item"),
        "amount": part_of(measure, "amount, quantity, measure"),
    },
    ("{amount} {name}", "{name} ({amount})", "{amount} of {name}", "{name}: {amount}", "{name}, {amount}"),
    2,
    4,
)

RECIPE = kind(
    "recipe",
    (
        Field(
            "name",
            from_pool("dishes", capitalised=0.5),
            "name, title, dish, recipe name, recipe",
            "the name of the dish",
            "Recipe, Dish",
            weight=3,
        ),
        Field(
            "servings",
            integer(1, 12, words=0.4),
            "servings, serves, portions, number of servings",
            "how many people it serves",
            "Servings, Serves, Portions",
            weight=2,
        ),
        Field(
            "prep",
            integer(5, 60, words=0.2, units=" minutes| min"),
            "prep time, preparation time, prep minutes, preparation minutes",
            "minutes of preparation",
            "Prep time, Preparation",
            weight=1.5,
        ),
        Field(
            "cooking",
            integer(5, 180, words=0.1, units=" minutes| min"),
            "cook time, cooking time, cook minutes, baking time",
            "minutes on the stove or in the oven",
            "Cooking time, Baking time",
            weight=1.5,
        ),
        Field(
            "ingredients",
            INGREDIENTS,
            "ingredients, ingredient list, shopping list",
            "what is needed",
            "Ingredients",
            none="No ingredients are listed.",
            weight=1.7,
            plain=False,
        ),
        Field(
            "author",
            other_person,
            "author, cook, chef, created by, recipe by",
            "whose recipe it is",
            "Author, Cook, Recipe by",
            weight=1.4,
        ),
        Field(
            "origin",
            from_pool("countries"),
            "origin, country, country of origin",
            "where it comes from",
            "Origin, Country",
            weight=1,
        ),
        Field(
            "temperature",
            integer(120, 250, words=0.0, units=" °C| degrees|°C"),
            "oven temperature, temperature, oven temp",
            "temperature of the oven",
            "Oven temperature",
            weight=1,
        ),
        Field(
            "calories",
            integer(90, 900, words=0.0),
            "calories, kcal, energy, calories per serving",
            "calories in a serving",
            "Calories, kcal",
            weight=1,
        ),
        Field(
            "allergens",
            several(from_pool("allergens"), 1, 2),
            "allergens, contains allergens, allergy warning",
            "the allergens in it",
            "Allergens",
            none="It contains no allergens.",
            weight=0.7,
        ),
        Field(
            "difficulty",
            choice({"easy": "easy, simple", "medium": "medium", "hard": "hard, difficult"}),
            "difficulty, level, difficulty level",
            "how hard it is",
            "Difficulty, Level",
            wordings={
                "easy": "Anyone can cook this.\nIt is child's play.",
                "medium": "It takes some practice.\nIt is of medium difficulty.",
                "hard": "Only for experienced cooks.\nIt is quite demanding.",
            },
            plain=False,
            may_miss=False,
        ),
        Field(
            "vegetarian",
            flag(),
            "vegetarian, is vegetarian, meat free",
            "whether it is without meat",
            "Vegetarian",
            wordings={
                "true": "It is vegetarian.\nThere is no meat in it.",
                "false": "It is not vegetarian.\nIt contains meat.",
            },
            plain=False,
        ),
    ),
    plural="recipes, dishes, menu",
    nests={"times, timing": "prep, cooking", "nutrition, dietary info": "calories, allergens, vegetarian"},
    titles="Recipe, From our kitchen, Dish of the day",
    held_out=True,
    sentences="""
    Today we cook {name}.
    This recipe is for {name}.
    Let's make {name}!
    It serves {servings}.
    The recipe makes {servings} portions.
    Enough for {servings} people.
    Preparation takes {prep}.
    You need {prep} to prepare everything.
    It cooks for {cooking}.
    Leave it on the heat for {cooking}.
    You need {ingredients}.
    Take {ingredients}.
    Ingredients: {ingredients}.
    The recipe is by {author}.
    {author} taught me how to cook it.
    It comes from {origin}.
    People eat it everywhere in {origin}.
    Heat the oven to {temperature}.
    The oven should have {temperature}.
    One serving has {calories} calories.
    That makes {calories} kcal per portion.
    It contains {allergens}, so beware of allergies.
    Allergens: {allergens}.
    The difficulty is {difficulty}.
    It is {difficulty} to cook.
    {name} for {servings} people, ready in {cooking}.
    {author}'s recipe for {name} serves {servings}.
    {author} shares a recipe for {name}.
    {prep} of preparation, {cooking} of cooking.
    Bake it for {cooking} at {temperature}.
    {name}, a dish from {origin}, serves {servings}.
    For {name} you need {ingredients}.
    """,
    asides="""
    My neighbour {any_person} tried it and liked it.
    I found the pan in a shop in {any_city}.
    The whole shopping cost {any_money}.
    Wash your hands first.
    It tastes even better the day after.
    I first cooked it on {any_date}.
    """,
)
