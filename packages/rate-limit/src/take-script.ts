/**
 * Processes several requests in order, in one atomic step and by Redis' clock. Each request takes
 * one token from each of its buckets, or none from any.
 *
 * - KEYS: the buckets of all requests, in order. A bucket may appear more than once.
 * - ARGV: the number of requests, the number of buckets of each request, and then three numbers per
 *   bucket: the µs that refill one token, the burst, and the unsynced debt. The unsynced debt is
 *   the time in µs that refills the tokens taken during an outage. Redis may not know these tokens.
 *   Otherwise, it is 0.
 *
 * A key stores the microsecond at which its bucket is full, and expires at that time. The reply
 * contains each bucket's debt before its request, from which `takeTokens` derives the same
 * decision.
 */
export const takeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local stands, changed = {}, {}
local function debtOf(key)
  if not stands[key] then
    stands[key] = math.max(tonumber(redis.call('GET', key) or now) - now, 0)
  end
  return stands[key]
end
local function keep(key, debt)
  stands[key], changed[key] = debt, true
end
local questions = tonumber(ARGV[1])
local debts, tokens, first = {}, {}, 1
for question = 1, questions do
  local last, passes = first + tonumber(ARGV[1 + question]) - 1, true
  for i = first, last do
    local at = 1 + questions + 3 * (i - 1)
    local token, burst, unsynced = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
    local debt = debtOf(KEYS[i])
    if unsynced > debt or debt > token * burst then
      -- Where the clock fell back, as it may in a fail-over, no caller waits longer than one full refill.
      debt = math.min(math.max(debt, unsynced), token * burst)
      keep(KEYS[i], debt)
    end
    if debt + token > token * burst then passes = false end
    debts[i], tokens[i] = debt, token
  end
  if passes then
    for i = first, last do keep(KEYS[i], debts[i] + tokens[i]) end
  end
  first = last + 1
end
for key in pairs(changed) do
  local debt = stands[key]
  redis.call('SET', key, string.format('%.0f', now + debt), 'PX', math.ceil(debt / 1000) + 1)
end
return debts
`;
