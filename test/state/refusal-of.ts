import { isProblem } from "keyhole";

/** The refusal without its handle; undefined if the call succeeds. */
export async function refusalOf(call: Promise<unknown>, handle: string): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    return isProblem(error) ? JSON.stringify(error).replaceAll(handle, "HANDLE") : String(error);
  }
}
