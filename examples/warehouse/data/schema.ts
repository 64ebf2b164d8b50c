// The tables. SQLite keeps their comments, and agents read them.
export const SCHEMA = `
CREATE TABLE IF NOT EXISTS dim_user ( -- Customers, with the device they signed up on and their crypto wallet, if any.
  user_id TEXT PRIMARY KEY, -- Identifies the customer everywhere, such as u-1042
  name TEXT NOT NULL, -- First and last name
  country TEXT NOT NULL, -- Where they live, two letters
  signed_up_on TEXT NOT NULL, -- Day of the registration
  device_id TEXT NOT NULL, -- The device they signed up on; shared devices are a sign of fraud
  wallet TEXT -- Address of their wallet on the chain, if they connected one
) STRICT;
CREATE TABLE IF NOT EXISTS dim_product ( -- What is sold.
  product_id TEXT PRIMARY KEY, -- Identifies the product
  title TEXT NOT NULL, -- Name in the shop
  category TEXT NOT NULL -- Group of products: audio, home, travel
) STRICT;
CREATE TABLE IF NOT EXISTS fact_orders ( -- Orders, in whole euros: where spend and revenue come from.
  order_id INTEGER PRIMARY KEY, -- Number of the order
  user_id TEXT NOT NULL REFERENCES dim_user (user_id), -- Who ordered
  product_id TEXT NOT NULL REFERENCES dim_product (product_id), -- What was ordered
  amount INTEGER NOT NULL, -- Price paid, in euros
  ordered_on TEXT NOT NULL -- Day of the order
) STRICT;
CREATE TABLE IF NOT EXISTS fact_transfers ( -- Transactions that moved money out of a customer's account.
  transfer_id INTEGER PRIMARY KEY, -- Number of the transfer
  user_id TEXT NOT NULL REFERENCES dim_user (user_id), -- Whose account it left
  amount INTEGER NOT NULL, -- Amount, in euros; those of 1,000 and more are reported
  made_on TEXT NOT NULL -- Day of the transfer
) STRICT;
CREATE TABLE IF NOT EXISTS audit_access ( -- Which member of staff has read the data of which customer.
  access_id INTEGER PRIMARY KEY, -- Number of the access
  staff TEXT NOT NULL, -- Who read it
  user_id TEXT NOT NULL, -- Whose data was read; stays when the customer is gone
  read_on TEXT NOT NULL -- Day of the access
) STRICT;
CREATE TABLE IF NOT EXISTS log_events ( -- What happened in our systems.
  event_id INTEGER PRIMARY KEY, user_id TEXT NOT NULL, at TEXT NOT NULL, event TEXT NOT NULL,
  country TEXT NOT NULL, message TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS tickets ( -- Tickets of the support desk.
  ticket_id INTEGER PRIMARY KEY, user_id TEXT NOT NULL, opened_at TEXT NOT NULL,
  priority TEXT NOT NULL, state TEXT NOT NULL, note TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS chain_transfers ( -- What moved between wallets on the chain.
  tx TEXT PRIMARY KEY, from_address TEXT NOT NULL, to_address TEXT NOT NULL, amount INTEGER NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS chain_labels ( -- What is known about an address.
  address TEXT PRIMARY KEY, label TEXT NOT NULL
) STRICT;
`;

/** Ordered so that each refers only to earlier ones. */
export const TABLES = [
  "dim_user",
  "dim_product",
  "fact_orders",
  "fact_transfers",
  "audit_access",
  "log_events",
  "tickets",
  "chain_transfers",
  "chain_labels",
] as const;
export type Table = (typeof TABLES)[number];
