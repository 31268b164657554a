"""All that is compiled for a budget behind one door: each door costs what its arguments cost at first use."""

from __future__ import annotations

from dsprog.core.kernel import kernel
from dsprog.exact.budget.client_kernels import gain_of, put
from dsprog.exact.budget.depth_first import search
from dsprog.exact.budget.gains_at_node import bound_by_gains
from dsprog.exact.budget.search_stack import REST, VALUE
from dsprog.exact.budget.threshold_bound import ORDER
from dsprog.exact.budget.thresholds_at_node import bound_by_steps

LOAD_PATH, BOUND_BY_GAINS, BOUND_BY_STEPS, SEARCH = 0, 1, 2, 3


@kernel
def budget_kernel(gains, room, stack, desk, measured, found, goal, tally, task, amount):
    """One task at the first level of the stack, or from where it stands.

    LOAD_PATH: the state of the first ``amount`` elements in ORDER. BOUND_BY_GAINS,
    BOUND_BY_STEPS: a bound, the latter by so many steps. SEARCH: so much work; 1 if no node is open then.
    """
    if task == LOAD_PATH:
        for i in range(stack.state.shape[1]):
            stack.state[0, i] = gains.clients.first[i]
        for q in range(amount):
            stack.numbers[0, VALUE] += put(gains, stack.state[0], desk.lists[ORDER, q])
        for i in range(stack.thresholds.shape[1]):
            stack.thresholds[0, i] = stack.state[0, i] if i < gains.clients.offsets[1] else 0.0
        if len(gains.heads) > 0:
            for j in range(stack.gain.shape[1]):
                stack.gain[0, j] = gain_of(gains, stack.state[0], j)
        for i in range(gains.clients.offsets[1], gains.clients.offsets[2]):
            if stack.prices.shape[1] > 0:
                for e in range(gains.heads[i], gains.heads[i + 1]):  # half of what an element gives alone
                    stack.prices[0, e] = 0.5 * stack.state[0, i] * gains.amounts[e]
        return stack.numbers[0, VALUE]
    if task == BOUND_BY_GAINS:
        bound = bound_by_gains(gains, room, stack, desk, tally)
    elif task == BOUND_BY_STEPS:
        bound = bound_by_steps(gains, room, stack, desk, goal, tally, amount)
    else:
        return 1.0 if search(gains, room, stack, desk, measured, found, goal, tally, amount) else 0.0
    stack.numbers[0, REST] = min(stack.numbers[0, REST], bound)
    return bound
