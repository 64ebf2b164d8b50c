import { createCTexts, POINTER_BYTES } from "./c-texts.ts";
import { loadQuickJs, type Pointer } from "./load-quickjs.ts";
import type { EngineMemory } from "./memory-image.ts";

/** A value of the engine. It lives until it is freed, or until the engine's memory is put back. */
export type Value = Pointer;

/** A function that code in the engine can call. It gets every argument as text. */
export type HostFunction = (...texts: string[]) => void;

/** An error that code in the engine threw. Hostile code may leave out any field. */
export type Thrown = Readonly<Partial<Record<"name" | "message" | "stack", unknown>>>;

/** One instance of QuickJS, with one context. */
export interface QuickJs {
  readonly memory: EngineMemory;
  setLimits(memoryBytes: number, stackBytes: number): void;
  newText(text: string): Value;
  newNumber(number: number): Value;
  newFunction(name: string, body: HostFunction): Value;
  field(object: Value, name: string): Value;
  evaluate(code: string, file: string): Value | Thrown;
  /** Calls a function and frees its arguments. */
  call(callee: Value, args: readonly Value[]): Value | Thrown;
  free(value: Value): void;
  /** Runs jobs of promises, `most` of them at a time. Returns how many there were. */
  runJobs(most: number): number | Thrown;
}

const MOST_ARGS = 8;
/** The first letter of "number", and of no other type. */
const LETTER_N = 110;

/**
 * Calls QuickJS by its C functions, because every call of a script passes here. `isOver` is asked now and then while
 * code runs, and ends it.
 */
export async function createQuickJs(isOver: () => boolean): Promise<QuickJs> {
  const functions: HostFunction[] = [];
  const module = await loadQuickJs({
    callFunction: (_, __, ___, count, args, id) => callHost(functions[id]!, count, args),
    shouldInterrupt: () => (isOver() ? 1 : 0),
    freeHostRef: () => {},
  });
  const { c, memory, malloc, free: freeBytes } = module;
  const texts = createCTexts(module);
  const runtime = c.QTS_NewRuntime();
  const context = c.QTS_NewContext(runtime, 0);
  c.QTS_RuntimeEnableInterruptHandler(runtime);
  const nothing = c.QTS_GetUndefined();
  const argsAt = malloc(MOST_ARGS * POINTER_BYTES);
  const lastContext = malloc(POINTER_BYTES);

  const free = (value: Value) => c.QTS_FreeValuePointer(context, value);
  const newText = (text: string) => texts.write(text, (at) => c.QTS_NewString(context, at));

  function takeText(at: Pointer): string {
    const text = texts.read(at);
    c.QTS_FreeCString(context, at);
    return text;
  }

  function callHost(body: HostFunction, count: number, args: Pointer): Value {
    try {
      const given: string[] = [];
      for (let index = 0; index < count; index++) {
        const value = c.QTS_ArgvGetJSValueConstPointer(args, index);
        given.push(takeText(c.QTS_GetString(context, value)));
      }
      body(...given);
      return 0;
    } catch (error) {
      return throwInside(error as Error);
    }
  }

  function throwInside({ name, message }: Error): Value {
    const error = c.QTS_NewError(context);
    for (const [field, text] of Object.entries({ name, message })) {
      const [key, value] = [newText(field), newText(text)];
      c.QTS_SetProp(context, error, key, value);
      free(key);
      free(value);
    }
    const thrown = c.QTS_Throw(context, error);
    free(error);
    return thrown;
  }

  function toThrown(error: Value): Thrown {
    const text = takeText(c.QTS_Dump(context, error));
    free(error);
    try {
      const fields: unknown = JSON.parse(text);
      if (typeof fields === "object" && fields !== null) return fields;
    } catch {
      // The text is all there is.
    }
    return { message: text };
  }

  function toOutcome(value: Value): Value | Thrown {
    const error = c.QTS_ResolveException(context, value);
    if (error === 0) return value;
    free(value);
    return toThrown(error);
  }

  return {
    memory,
    setLimits: (memoryBytes, stackBytes) => {
      c.QTS_RuntimeSetMemoryLimit(runtime, memoryBytes);
      c.QTS_RuntimeSetMaxStackSize(runtime, stackBytes);
    },
    newText,
    newNumber: (number) => c.QTS_NewFloat64(context, number),
    newFunction: (name, body) =>
      c.QTS_NewFunction(context, name, body.length, false, functions.push(body) - 1),
    field: (object, name) => {
      const key = newText(name);
      const value = c.QTS_GetProp(context, object, key);
      free(key);
      return value;
    },
    evaluate: (code, file) =>
      toOutcome(texts.write(code, (at, length) => c.QTS_Eval(context, at, length, file, 0, 0))),
    call: (callee, args) => {
      texts.writePointers(argsAt, args);
      const value = c.QTS_Call(context, callee, nothing, args.length, argsAt);
      args.forEach(free);
      return toOutcome(value);
    },
    free,
    runJobs: (most) => {
      const value = c.QTS_ExecutePendingJob(runtime, most, lastContext);
      const type = c.QTS_Typeof(context, value);
      const isNumber = texts.firstByte(type) === LETTER_N;
      freeBytes(type);
      if (!isNumber) return toThrown(value);
      const done = c.QTS_GetFloat64(context, value);
      free(value);
      return done;
    },
  };
}
