/**
 * Takes one token from each bucket or none from any, in one step of Redis and by its clock. KEYS are the
 * buckets; ARGV holds per bucket the microseconds that a token takes to refill, the burst, and a debt that
 * Redis may not know of (what was taken while it was away; else 0). A key holds the microsecond at which
 * its bucket is full again, and is gone once it is. The reply is each bucket's debt as it was before, from
 * which `takeTokens` derives the same decision.
 */
export const takeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function keep(key, debt)
  redis.call('SET', key, string.format('%.0f', now + debt), 'PX', math.ceil(debt / 1000) + 1)
end
local debts, tokens, passes = {}, {}, true
for i, key in ipairs(KEYS) do
  local token, burst = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1])
  local untold = tonumber(ARGV[3 * i])
  local debt = math.max(tonumber(redis.call('GET', key) or now) - now, 0)
  if untold > debt or debt > token * burst then
    -- Where the clock fell back, as it may in a fail-over, nobody waits for longer than one whole refill.
    debt = math.min(math.max(debt, untold), token * burst)
    keep(key, debt)
  end
  if debt + token > token * burst then passes = false end
  debts[i], tokens[i] = debt, token
end
if passes then
  for i, key in ipairs(KEYS) do keep(key, debts[i] + tokens[i]) end
end
return debts
`;
