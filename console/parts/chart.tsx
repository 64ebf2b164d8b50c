import type { Minute } from "../../src/faces/http/endpoints/api-types.ts";
import { Table } from "./basics.tsx";
import { clock, number } from "./format.ts";

interface Series {
  readonly name: string;
  of(minute: Minute): number;
}

const MINUTE_MS = 60_000;
const SHOWN = 60;
const WIDTH = 600;
const HEIGHT = 110;
const STEP = WIDTH / SHOWN;

/** Bars of the last hour, one for each minute, the series on top of each other, and their values as a table. */
export function Chart({
  minutes,
  series,
  label,
}: {
  minutes: readonly Minute[];
  series: readonly Series[];
  label: string;
}) {
  const now = Date.now();
  const first = now - (now % MINUTE_MS) - (SHOWN - 1) * MINUTE_MS;
  const bars = minutes
    .filter(({ at }) => at >= first)
    .map((minute) => ({
      place: (minute.at - first) / MINUTE_MS,
      time: clock(minute.at).slice(0, 5),
      values: series.map(({ of }) => of(minute)),
    }));
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const most = Math.max(0, ...sums);
  const total = sums.reduce((sum, value) => sum + value, 0);
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${number(total)} in the last hour, at most ${number(most)} in a minute`}
      >
        {[0.25, 0.5, 0.75].map((line) => (
          <line key={line} class="grid-line" x1="0" x2={WIDTH} y1={HEIGHT * line} y2={HEIGHT * line} />
        ))}
        {bars.map(({ place, time, values }) => {
          let top = HEIGHT;
          return (
            <g key={place}>
              <title>{`${time}: ${series.map(({ name }, at) => `${name} ${number(values[at] ?? 0)}`).join(", ")}`}</title>
              {values.map((value, index) => {
                const height = (value / Math.max(1, most)) * (HEIGHT - 4);
                top -= height;
                const name = series[index]?.name ?? "";
                return (
                  <rect
                    key={name}
                    class={`series ${name}`}
                    x={place * STEP + 1}
                    width={STEP - 2}
                    y={top}
                    height={height}
                    rx="1"
                  />
                );
              })}
            </g>
          );
        })}
      </svg>
      <figcaption>
        <span>{clock(first).slice(0, 5)}</span>
        <span class="legend">
          {series.map(({ name }) => (
            <span key={name} class={`key ${name}`}>
              {name}
            </span>
          ))}
          <span>at most {number(most)}</span>
        </span>
        <span>now</span>
      </figcaption>
      {bars.length > 0 && (
        <details class="values">
          <summary>{label}, in numbers</summary>
          <Table head={["Minute", ...series.map(({ name }) => name)]} label={label}>
            {bars.toReversed().map(({ place, time, values }) => (
              <tr key={place}>
                <td>{time}</td>
                {values.map((value, at) => (
                  <td key={series[at]?.name}>{number(value)}</td>
                ))}
              </tr>
            ))}
          </Table>
        </details>
      )}
    </figure>
  );
}
