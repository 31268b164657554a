"""Prices that clients pay for elements: the least bound that can be had from survivals one by one.

Let q_i be what client i has to lose and p_ij the chance that j reaches it. For any prices b_ij and all sets S,

    q_i (1 - Π_{j∈S} (1 - p_ij)) <= a_i + Σ_{j∈S} b_ij,   a_i = max_T q_i (1 - Π_{j∈T} (1 - p_ij)) - Σ_{j∈T} b_ij,

since S is one of the sets T. Sums over the clients give a bound that is linear in S, as those from gains and thresholds
are. At the best prices it is that of the concave envelopes of the clients (Lagrange's decomposition), which no bound
from single clients beats; lifted tangents are such prices, and steps begin with them.

The maximum of a client is found by including one element after the other: an element that does not pay its price never
will again as others are included, and a branch ends where parts of elements cannot lift it above the best.
"""

from __future__ import annotations

from dsprog.core.kernel import part

LONGEST_WALK = 256  # steps among the sets of a client; unequal entries take a tenth of it
DEFLECTION = 1.5  # Camerini, Fratta and Maffioli's
# rows of Desk.prices: prices, the best so far, where they move, and what clients take, by entry; what all clients pay
# for an element, whether it is a candidate, and how much of it the bound takes, by element; three of a walk; and the
# mean of what the bound took, by element
PRICE, CHEAPEST, TREND, TAKEN, PAID, OPEN, USED, LEFT, WON, RATIO, MEAN = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
ENTRY, NEXT, PICKED, BEST = 0, 1, 2, 3  # rows of Desk.walk


@part
def most_from(gains, desk, place, size, alive):
    """The most that a client wins from parts of its elements from a place on, by price for each unit of hazard.

    With x_j in [0, 1] it wins alive (1 - exp(-Σ h_j x_j)) - Σ b_j x_j, h_j = -log(1 - p_j), which is concave: cheap
    units come first, and the last part ends where a unit costs what it gives: at alive = ratio. It wins
    alive - ratio - ratio log(alive / ratio), at most (alive - ratio)² / (alive + ratio) since log z >= 2(z - 1)/(z + 1)
    for z >= 1.
    """
    total = 0.0
    for k in range(place, size):
        e = desk.walk[ENTRY, k]
        ratio, rest = desk.prices[RATIO, k], alive * (1.0 - gains.amounts[e])
        if alive <= ratio:
            break
        if rest < ratio:
            return total + (alive - ratio) * (alive - ratio) / (alive + ratio)
        total += alive - rest - desk.prices[PRICE, e]
        alive = rest
    return total


@part
def list_entries(gains, q, i, desk):
    """The entries that pay their price alone, in rising order of price for each unit of hazard; how many."""
    entry, ratio, size = desk.walk[ENTRY], desk.prices[RATIO], 0
    for e in range(gains.heads[i], gains.heads[i + 1]):
        desk.prices[TAKEN, e] = 0.0
        price = desk.prices[PRICE, e]
        if q * gains.amounts[e] > price and desk.prices[OPEN, gains.members[e]] > 0.0:
            key, place = price / gains.hazards[e], size
            while place > 0 and ratio[place - 1] > key:
                ratio[place], entry[place] = ratio[place - 1], entry[place - 1]
                place -= 1
            ratio[place], entry[place] = key, e
            size += 1
    return size


@part
def best_of_client(gains, q, i, desk):
    """a_i, and in TAKEN the set that has it; at most a little more than a_i where the walk has become long.

    Of entries with the same amount and price the first ones are taken: others in their place win the same.
    """
    amounts, price, taken = gains.amounts, desk.prices[PRICE], desk.prices[TAKEN]
    entry, following, picked = desk.walk[ENTRY], desk.walk[NEXT], desk.walk[PICKED]
    left, won = desk.prices[LEFT], desk.prices[WON]
    size, depth, best, deepest = list_entries(gains, q, i, desk), 0, 0.0, 0
    left[0], won[0], following[0] = q, 0.0, 0
    steps = 0
    while depth >= 0:
        steps += 1
        if steps > LONGEST_WALK:  # parts of elements win at least what sets of them do
            return most_from(gains, desk, 0, size, q)
        place = following[depth]
        if place >= size or won[depth] + most_from(gains, desk, place, size, left[depth]) <= best:
            depth -= 1
            continue
        e = entry[place]
        following[depth] += 1
        while following[depth] < size:
            other = entry[following[depth]]
            if amounts[other] != amounts[e] or price[other] != price[e]:
                break
            following[depth] += 1
        gain = left[depth] * amounts[e] - price[e]
        if gain <= 0.0:
            continue
        picked[depth] = e
        depth += 1
        left[depth], won[depth], following[depth] = (
            left[depth - 1] * (1.0 - amounts[e]),
            won[depth - 1] + gain,
            place + 1,
        )
        if won[depth] > best:
            best = won[depth]
            for k in range(deepest):
                taken[desk.walk[BEST, k]] = 0.0
            for k in range(depth):
                taken[picked[k]] = 1.0
                desk.walk[BEST, k] = picked[k]
            deepest = depth
    return best


@part
def pay(gains, state, desk):
    """Σ a_i over all clients; in PAID what they pay for each element."""
    first, last, prices = gains.clients.offsets[1], gains.clients.offsets[2], desk.prices
    total = 0.0
    for j in range(len(gains.modular)):
        prices[PAID, j] = 0.0
    for i in range(first, last):
        for e in range(gains.heads[i], gains.heads[i + 1]):
            prices[PRICE, e] = max(0.0, min(prices[PRICE, e], state[i] * gains.amounts[e]))
            prices[PAID, gains.members[e]] += prices[PRICE, e]
        if state[i] > 0.0:
            total += best_of_client(gains, state[i], i, desk)
    return total


@part
def move_prices(gains, state, desk, distance):
    """One step of the prices, towards what the bound takes and clients do not; ``distance``: how far it should go."""
    prices, heads, amounts = desk.prices, gains.heads, gains.amounts
    first, last = gains.clients.offsets[1], gains.clients.offsets[2]
    product, square = 0.0, 0.0
    for i in range(first, last):
        for e in range(heads[i], heads[i + 1]):
            turn = prices[USED, gains.members[e]] - prices[TAKEN, e]
            low, high = prices[PRICE, e] <= 0.0, prices[PRICE, e] >= state[i] * amounts[e]
            if prices[OPEN, gains.members[e]] == 0.0 or (turn > 0.0 and low) or (turn < 0.0 and high):
                turn = 0.0
            prices[TAKEN, e] = turn
            product += turn * prices[TREND, e]
            square += prices[TREND, e] * prices[TREND, e]
    weight = -DEFLECTION * product / square if product < 0.0 and square > 0.0 else 0.0
    square = 0.0
    for e in range(heads[first], heads[last]):
        prices[TREND, e] = prices[TAKEN, e] + weight * prices[TREND, e]
        square += prices[TREND, e] * prices[TREND, e]
    if square <= 0.0:
        return False
    for e in range(heads[first], heads[last]):
        prices[PRICE, e] -= distance / square * prices[TREND, e]
    return True
