/** The same single insert that create makes: the link's row, with every index of its table. */
export const floorInsert = `
  INSERT INTO links (
    id, user_id, version, status, to_amount, created_at, wallet_id, destination_address, token_id,
    chain_id, token_address, payment_reference
  ) VALUES ($1, $2, 1, 'active', $3, now(), $4, $5, $6, $7, $8, $9)`;

/** The owner of the floor's links. */
export const floorOwner = "user_floor";

export const insertValues = (id: string, toAmount: string, reference: string): string[] => [
  id,
  floorOwner,
  toAmount,
  "wallet_floor",
  "0x52908400098527886E0F7030069857D2E4169EE7",
  "usdc-base",
  "8453",
  "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  reference,
];

/** The same single select that retrieve makes: the link's row with its owner's profile. */
export const floorSelect = `
  SELECT links.*, accounts.profile FROM links JOIN accounts ON accounts.id = links.user_id
  WHERE links.id = $1`;
