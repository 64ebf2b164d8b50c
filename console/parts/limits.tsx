import type { ShownProgram } from "../../src/faces/http/endpoints/api-types.ts";
import { attempt } from "../api.ts";
import { Action, Text } from "./basics.tsx";
import { exact } from "./format.ts";

/** Limits that fit what a server was seen to do, and the yes to them. */
export function Limits({
  server,
  id,
  proposal: { hash, lines },
  reload,
}: {
  server: string;
  id: string;
  proposal: ShownProgram;
  reload: () => void;
}) {
  const keep = () => attempt("/api/approvals/limits", { id, hash }).finally(reload);
  return (
    <>
      <Text label={`Proposed sandbox of ${server}`} class="whole">
        {exact(lines.join("\n"))}
      </Text>
      <Action run={keep}>Keep {exact(server)} to this sandbox</Action>
    </>
  );
}
