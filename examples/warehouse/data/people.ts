// The three customers of the story, with their transfers.
type Cells = readonly (string | number | null)[];

const WALLET = "0x7c3e5f0a91d2";
const RELAY = "0x19aa04c7e6b8";

export const USERS: readonly Cells[] = [
  ["u-1042", "Xenia Marsh", "NL", "2025-11-20", "device-a", WALLET],
  ["u-1043", "Theo Marsh", "NL", "2025-12-02", "device-a", null],
  ["u-2001", "Hanna Berg", "DE", "2025-06-14", "device-b", null],
  ["u-3007", "Victor Ip", "BE", "2025-01-08", "device-c", null],
];

export const ORDERS: readonly Cells[] = [
  [1, "u-1042", "p-lens", 5_000, "2026-01-09"],
  [2, "u-1042", "p-case", 3_500, "2026-02-11"],
  [3, "u-2001", "p-lamp", 320, "2026-02-20"],
  [4, "u-3007", "p-speaker", 24_000, "2026-03-02"],
];

const ORDINARY: readonly Cells[] = [
  [1, "u-1042", 120, "2026-01-10"],
  [2, "u-2001", 45, "2026-02-21"],
  [3, "u-3007", 2_400, "2026-03-04"],
];

/** Fifteen days in a row, 985 to 999 euros a day. */
const JUST_UNDER = Array.from({ length: 15 }, (_, day): Cells => {
  const madeOn = `2026-03-${String(day + 1).padStart(2, "0")}`;
  return [100 + day, "u-1042", 985 + day, madeOn];
});

export const TRANSFERS = [...ORDINARY, ...JUST_UNDER];

export const EVENTS: readonly Cells[] = [
  [1, "u-2001", "2026-02-20T18:05:00Z", "login", "DE", "Signed in with a password"],
  [2, "u-1042", "2026-03-01T02:14:00Z", "login", "NL", "Signed in with a password"],
  [3, "u-1042", "2026-03-01T02:15:00Z", "wallet.connected", "NL", `Connected ${WALLET}`],
  [4, "u-1042", "2026-03-01T02:40:00Z", "login", "PA", "Signed in with a password"],
  [
    5,
    "u-1042",
    "2026-03-01T02:41:00Z",
    "limit.warning",
    "PA",
    "Transfer of 1,200 euros refused: over the daily limit",
  ],
  [6, "u-3007", "2026-03-02T09:30:00Z", "login", "BE", "Signed in with a passkey"],
];

export const CHAIN: readonly Cells[] = [
  ["tx-1", WALLET, RELAY, 14_000, "2026-03-16T01:02:00Z"],
  ["tx-2", RELAY, "0xmixer", 13_900, "2026-03-16T01:20:00Z"],
  ["tx-3", RELAY, WALLET, 50, "2026-03-16T01:21:00Z"],
];

export const LABELS: readonly Cells[] = [["0xmixer", "mixer: hides where money came from"]];

export const AUDIT: readonly Cells[] = [
  [1, "ana", "u-1042", "2026-03-14"],
  [2, "ben", "u-3007", "2026-03-15"],
];

export const TICKETS: readonly Cells[] = [
  [1, "u-2001", "2026-02-22T08:00:00Z", "normal", "closed", "The lamp arrived broken."],
];
