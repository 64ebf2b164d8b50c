import { problem } from "../../base/problems/problem.ts";
import { loadQuickJs, NO_MEMORY, type Pointer, type QuickJsModule, takeMemoryImage } from "./load-quickjs.ts";
import { PRELUDE } from "./prelude.ts";
import type { ScriptLimits } from "./sandbox.ts";

/** Functions that the prelude calls. Their arguments come from the script. */
export interface EngineHost {
  send(json: string): void;
  log(text: string): void;
  miss(label: string, field: string, fields: string): void;
  /** The script ended. Empty if it returned nothing. */
  returned(json: string): void;
  failed(json: string): void;
  /** Called now and then while the script computes: whether to stop it. */
  isOver(): boolean;
}

type EngineLimits = Pick<ScriptLimits, "memoryBytes" | "stackBytes" | "chars">;

export type Engine = Awaited<ReturnType<typeof createEngine>>;

/** One WebAssembly instance with a context in which the prelude has run. Runs one script at a time. */
export async function createEngine() {
  let served: EngineHost | undefined;
  const quickjs = await QuickJs.open(() => served?.isOver() ?? false);
  const functions = [
    quickjs.newFunction("send", (json) => served!.send(json!)),
    quickjs.newFunction("log", (text) => served!.log(text!)),
    quickjs.newFunction("miss", (label, field, fields) => served!.miss(label!, field!, fields!)),
    quickjs.newFunction("returned", (json) => served!.returned(json!)),
    quickjs.newFunction("failed", (json) => served!.failed(json!)),
  ];
  const prelude = quickjs.evaluate(PRELUDE, "prelude.js") as Value;
  const exposed = quickjs.call(prelude, functions) as Value;
  const begin = quickjs.field(exposed, "begin");
  const run = quickjs.field(exposed, "run");
  const answer = quickjs.field(exposed, "answer");
  const { memory } = quickjs;
  const { buffer } = memory;
  const restore = takeMemoryImage(memory);

  /** Calls a function of the prelude. All of them return nothing. */
  function call(callee: Value, args: readonly Value[]): Thrown | undefined {
    const value = quickjs.call(callee, args);
    if (typeof value === "object") return value;
    quickjs.free(value);
    return undefined;
  }

  return {
    /** Sets the functions and limits for the next script. */
    serve: (host: EngineHost, limits: EngineLimits): void => {
      served = host;
      quickjs.setLimits(limits);
    },
    /** Begins a script. `params` is JSON, `numbers` are the time and the seed. */
    begin: (code: string, file: string, params: string, numbers: readonly number[]): Thrown | undefined => {
      const refused = call(begin, [
        quickjs.newText(params),
        ...numbers.map((number) => quickjs.newNumber(number)),
      ]);
      if (refused) return refused;
      const main = quickjs.evaluate(code, file);
      return typeof main === "object" ? main : call(run, [main]);
    },
    /** Answers a request of the script. */
    answer: (text: string): Thrown | undefined => call(answer, [quickjs.newText(text)]),
    /** Runs at most `most` jobs of promises. Returns their number. */
    runJobs: (most: number): number | Thrown => quickjs.runJobs(most),
    /** Whether the script asked for more memory than allowed. */
    get isFull(): boolean {
      return memory.isFull;
    },
    /** Whether its memory grew, which cannot be undone. */
    get hasGrown(): boolean {
      return memory.buffer !== buffer;
    },
    /**
     * Restores the state before the first script, unless the memory grew. Outside its memory the engine only changes
     * its stack pointer, which every call that returns restores.
     */
    reset: (): void => {
      served = undefined;
      restore();
    },
  };
}

/** A value of the engine. Valid until it is freed, or until the memory is restored. */
type Value = Pointer;

/** A function that code in the engine can call. All arguments are text. */
type HostFunction = (...texts: string[]) => void;

/** An error thrown in the engine. Hostile code may omit any field. */
export type Thrown = Readonly<Partial<Record<"name" | "message" | "stack", unknown>>>;

const MOST_ARGS = 8;
/** The most UTF-8 bytes of one UTF-16 unit. */
const MOST_CHAR_BYTES = 3;
/** The first letter of "number", and of no other type. */
const LETTER_N = 110;

/**
 * A QuickJS instance with one context. Uses the C functions directly, because every call of a script passes here. Calls
 * `isOver` now and then while code runs.
 */
class QuickJs {
  readonly memory: QuickJsModule["memory"];
  private readonly functions: HostFunction[];
  private readonly module: QuickJsModule;
  private readonly texts: ReturnType<typeof createCTexts>;
  private readonly runtime: Pointer;
  private readonly context: Pointer;
  private readonly nothing: Value;
  private readonly argsAt: Pointer;
  private readonly lastContext: Pointer;
  private mostTextBytes = Number.POSITIVE_INFINITY;

  static async open(isOver: () => boolean): Promise<QuickJs> {
    const functions: HostFunction[] = [];
    const module = await loadQuickJs({
      callFunction: (_, __, ___, count, args, id) => quickjs.callHost(functions[id]!, count, args),
      shouldInterrupt: () => (isOver() ? 1 : 0),
      freeHostRef: () => {},
    });
    const quickjs = new QuickJs(module, functions);
    return quickjs;
  }

  private constructor(module: QuickJsModule, functions: HostFunction[]) {
    const { c, malloc } = module;
    this.module = module;
    this.functions = functions;
    this.memory = module.memory;
    this.texts = createCTexts(module);
    this.runtime = c.QTS_NewRuntime();
    this.context = c.QTS_NewContext(this.runtime, 0);
    c.QTS_RuntimeEnableInterruptHandler(this.runtime);
    this.nothing = c.QTS_GetUndefined();
    this.argsAt = malloc(MOST_ARGS * POINTER_BYTES);
    this.lastContext = malloc(POINTER_BYTES);
  }

  setLimits({ memoryBytes, stackBytes, chars }: EngineLimits): void {
    this.memory.mostBytes = memoryBytes;
    this.mostTextBytes = (chars + 1) * MOST_CHAR_BYTES;
    this.module.c.QTS_RuntimeSetMaxStackSize(this.runtime, stackBytes);
  }

  newText(text: string): Value {
    return this.texts.write(text, (at) => this.module.c.QTS_NewString(this.context, at));
  }

  newNumber(number: number): Value {
    return this.module.c.QTS_NewFloat64(this.context, number);
  }

  newFunction(name: string, body: HostFunction): Value {
    const id = this.functions.push(body) - 1;
    return this.module.c.QTS_NewFunction(this.context, name, body.length, false, id);
  }

  field(object: Value, name: string): Value {
    const key = this.newText(name);
    const value = this.module.c.QTS_GetProp(this.context, object, key);
    this.free(key);
    return value;
  }

  evaluate(code: string, file: string): Value | Thrown {
    const { c } = this.module;
    return this.toOutcome(
      this.texts.write(code, (at, length) => c.QTS_Eval(this.context, at, length, file, 0, 0)),
    );
  }

  /** Calls a function and frees its arguments. */
  call(callee: Value, args: readonly Value[]): Value | Thrown {
    this.texts.writePointers(this.argsAt, args);
    const value = this.module.c.QTS_Call(this.context, callee, this.nothing, args.length, this.argsAt);
    for (const arg of args) this.free(arg);
    return this.toOutcome(value);
  }

  free(value: Value): void {
    this.module.c.QTS_FreeValuePointer(this.context, value);
  }

  runJobs(most: number): number | Thrown {
    const { c, free: freeBytes } = this.module;
    const value = c.QTS_ExecutePendingJob(this.runtime, most, this.lastContext);
    const type = c.QTS_Typeof(this.context, value);
    const isNumber = this.texts.firstByte(type) === LETTER_N;
    freeBytes(type);
    if (!isNumber) return this.toThrown(value);
    const done = c.QTS_GetFloat64(this.context, value);
    this.free(value);
    return done;
  }

  /** Does not copy a text over the limit out of the engine. */
  private takeText(at: Pointer): string {
    if (at === 0) throw problem("INTERNAL", NO_MEMORY);
    const text = this.texts.read(at, this.mostTextBytes);
    this.module.c.QTS_FreeCString(this.context, at);
    return text;
  }

  private callHost(body: HostFunction, count: number, args: Pointer): Value {
    const { c } = this.module;
    try {
      const texts: string[] = [];
      for (let index = 0; index < count; index++) {
        const value = c.QTS_ArgvGetJSValueConstPointer(args, index);
        texts.push(this.takeText(c.QTS_GetString(this.context, value)));
      }
      body(...texts);
      return 0;
    } catch (error) {
      return this.throwInside(error as Error);
    }
  }

  private throwInside({ name, message }: Error): Value {
    const { c } = this.module;
    const error = c.QTS_NewError(this.context);
    for (const [field, text] of Object.entries({ name, message })) {
      const [key, value] = [this.newText(field), this.newText(text)];
      c.QTS_SetProp(this.context, error, key, value);
      this.free(key);
      this.free(value);
    }
    const thrown = c.QTS_Throw(this.context, error);
    this.free(error);
    return thrown;
  }

  private toThrown(error: Value): Thrown {
    const text = this.takeText(this.module.c.QTS_Dump(this.context, error));
    this.free(error);
    try {
      const fields: unknown = JSON.parse(text);
      if (typeof fields === "object" && fields !== null) return fields;
    } catch {
      // Not JSON: the text is the message.
    }
    return { message: text };
  }

  private toOutcome(value: Value): Value | Thrown {
    const error = this.module.c.QTS_ResolveException(this.context, value);
    if (error === 0) return value;
    this.free(value);
    return this.toThrown(error);
  }
}

const POINTER_BYTES = 4;

/** Texts in the memory of an engine, in the format of C: UTF-8 that ends with a zero. */
function createCTexts({ memory, malloc, free }: Omit<QuickJsModule, "c">) {
  let bytes = Buffer.from(memory.buffer);

  /** Growing the memory replaces its buffer. */
  function current(): Buffer {
    if (bytes.buffer !== memory.buffer) bytes = Buffer.from(memory.buffer);
    return bytes;
  }

  return {
    /** Writes a text for the duration of `use`. */
    write: <T>(text: string, use: (at: Pointer, length: number) => T): T => {
      const length = Buffer.byteLength(text);
      const at = malloc(length + 1);
      if (at === 0) throw problem("INTERNAL", NO_MEMORY);
      current().write(text, at, length);
      bytes[at + length] = 0;
      try {
        return use(at, length);
      } finally {
        free(at);
      }
    },
    read: (at: Pointer, mostBytes: number) =>
      current().toString("utf8", at, Math.min(at + mostBytes, bytes.indexOf(0, at))),
    firstByte: (at: Pointer) => current()[at]!,
    writePointers: (at: Pointer, pointers: readonly Pointer[]) => {
      const target = current();
      for (let index = 0; index < pointers.length; index++)
        target.writeUInt32LE(pointers[index]! >>> 0, at + index * POINTER_BYTES);
    },
  };
}
