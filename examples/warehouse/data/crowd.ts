// Forty other customers with a year of ordinary orders, transfers and log events, always the same.
const FIRST = ["Ada", "Ben", "Cleo", "Dario", "Elif", "Finn", "Greta", "Hugo"];
const LAST = ["Aalto", "Bakker", "Costa", "Dubois", "Eriksen"];
const COUNTRIES = ["DE", "NL", "BE", "FR", "PT"];

export const PRODUCTS = [
  ["p-speaker", "Speaker", "audio"],
  ["p-headset", "Headset", "audio"],
  ["p-lamp", "Lamp", "home"],
  ["p-kettle", "Kettle", "home"],
  ["p-case", "Travel case", "travel"],
  ["p-lens", "Camera lens", "travel"],
] as const;

export interface Crowd {
  readonly users: readonly (readonly (string | null)[])[];
  readonly orders: readonly (readonly (string | number)[])[];
  readonly transfers: readonly (readonly (string | number)[])[];
  readonly events: readonly (readonly (string | number)[])[];
}

const FIRST_ID = 1_000;
const ORDERS_EACH = 12;

export function makeCrowd(): Crowd {
  const next = numbers(2_026);
  const pick = <Value>(values: readonly Value[]): Value => values[next(values.length)]!;
  const users = FIRST.flatMap((first, row) =>
    LAST.map((last, column) => {
      const id = `u-5${row}${column}0`;
      return [id, `${first} ${last}`, COUNTRIES[column]!, dayOf(next(300)), `device-${id}`, null];
    }),
  );
  const orders: (string | number)[][] = [];
  const transfers: (string | number)[][] = [];
  const events: (string | number)[][] = [];
  for (const [id, , country] of users) {
    for (let month = 0; month < ORDERS_EACH; month++) {
      const on = dayOf(month * 30 + next(28));
      const number = FIRST_ID + orders.length;
      orders.push([number, id!, pick(PRODUCTS)[0], 15 + next(280), on]);
      events.push([
        number,
        id!,
        `${on}T${12 + next(8)}:00:00Z`,
        "login",
        country!,
        "Signed in with a password",
      ]);
      if (next(3) === 0) transfers.push([FIRST_ID + transfers.length, id!, 20 + next(600), on]);
    }
  }
  return { users, orders, transfers, events };
}

/** The date a number of days after 1 March 2025. */
function dayOf(days: number): string {
  return new Date(Date.UTC(2025, 2, 1 + days)).toISOString().slice(0, 10);
}

/** Pseudo-random integers below a bound, always the same sequence. */
function numbers(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
