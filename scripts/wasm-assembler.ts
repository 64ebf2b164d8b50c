/** A function of a WebAssembly module, with one instruction per line as in the text format. */
export interface WasmFunction {
  readonly name: string;
  /** Parameters, all of type i32. Functions return nothing. */
  readonly parameters: readonly string[];
  readonly integers: readonly string[];
  readonly vectors: readonly string[];
  readonly body: readonly string[];
}

type Immediate = "none" | "local" | "label" | "integer" | "lane" | "memory" | "zero" | "block";

/** The opcode and its operands. Two opcodes are the SIMD prefix and a number. */
const INSTRUCTIONS: Readonly<Record<string, readonly [opcode: readonly number[], immediate: Immediate]>> = {
  loop: [[0x03], "block"],
  if: [[0x04], "block"],
  end: [[0x0b], "none"],
  br_if: [[0x0d], "label"],
  "local.get": [[0x20], "local"],
  "local.set": [[0x21], "local"],
  "local.tee": [[0x22], "local"],
  "i32.load": [[0x28], "memory"],
  "i32.store": [[0x36], "memory"],
  "i32.const": [[0x41], "integer"],
  "i32.ne": [[0x47], "none"],
  "i32.add": [[0x6a], "none"],
  "i32.sub": [[0x6b], "none"],
  "v128.load": [[0xfd, 0], "memory"],
  "v128.load8x8_s": [[0xfd, 1], "memory"],
  "v128.store": [[0xfd, 11], "memory"],
  "v128.const": [[0xfd, 12], "zero"],
  "i8x16.swizzle": [[0xfd, 14], "none"],
  "i8x16.splat": [[0xfd, 15], "none"],
  "i16x8.splat": [[0xfd, 16], "none"],
  "i32x4.extract_lane": [[0xfd, 27], "lane"],
  "i16x8.gt_s": [[0xfd, 49], "none"],
  "v128.and": [[0xfd, 78], "none"],
  "v128.or": [[0xfd, 80], "none"],
  "v128.any_true": [[0xfd, 83], "none"],
  "i8x16.add": [[0xfd, 110], "none"],
  "i16x8.shl": [[0xfd, 139], "none"],
  "i16x8.shr_u": [[0xfd, 141], "none"],
  "i16x8.add": [[0xfd, 142], "none"],
  "i16x8.sub": [[0xfd, 145], "none"],
  "i32x4.add": [[0xfd, 174], "none"],
  "i32x4.dot_i16x8_s": [[0xfd, 186], "none"],
};

const I32 = 0x7f;
const V128 = 0x7b;
const EMPTY_BLOCK = 0x40;

/** Assembles a module that imports `host.memory` and exports the functions. */
export function assembleModule(functions: readonly WasmFunction[]): Uint8Array {
  const types = functions.map(({ parameters }) => [
    0x60,
    ...vector(parameters.map(() => [I32])),
    ...vector([]),
  ]);
  const memory = [...name("host"), ...name("memory"), 0x02, 0x00, 0x01];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, vector(types)),
    ...section(2, vector([memory])),
    ...section(3, vector(functions.map((_, index) => unsigned(index)))),
    ...section(7, vector(functions.map((item, index) => [...name(item.name), 0x00, ...unsigned(index)]))),
    ...section(10, vector(functions.map(assembleFunction))),
  ]);
}

function assembleFunction({ parameters, integers, vectors, body }: WasmFunction): number[] {
  const names = [...parameters, ...integers, ...vectors];
  const locals = vector([
    [...unsigned(integers.length), I32],
    [...unsigned(vectors.length), V128],
  ]);
  return sized([...locals, ...body.flatMap((line) => assemble(line, names)), ...assemble("end", names)]);
}

function assemble(line: string, names: readonly string[]): number[] {
  const [word = "", argument = ""] = line.split(" ");
  const instruction = INSTRUCTIONS[word];
  if (instruction === undefined) throw new TypeError(`unknown instruction: ${line}`);
  const [[opcode = 0, ...number], immediate] = instruction;
  return [opcode, ...number.flatMap(unsigned), ...encode(immediate, argument, names)];
}

function encode(immediate: Immediate, argument: string, names: readonly string[]): number[] {
  switch (immediate) {
    case "none":
      return [];
    case "block":
      return [EMPTY_BLOCK];
    case "zero":
      return Array.from({ length: 16 }, () => 0);
    case "local":
      return unsigned(names.indexOf(argument));
    case "memory":
      return [0, ...unsigned(Number(argument))];
    case "integer":
      return signed(Number(argument));
    case "lane":
    case "label":
      return unsigned(Number(argument));
  }
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...sized(content)];
}

function sized(content: readonly number[]): number[] {
  return [...unsigned(content.length), ...content];
}

function vector(items: readonly (readonly number[])[]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

function name(text: string): number[] {
  return sized([...Buffer.from(text, "utf8")]);
}

function unsigned(value: number): number[] {
  if (!Number.isInteger(value) || value < 0) throw new TypeError(`not an index: ${value}`);
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  const low = value & 0x7f;
  const rest = value >> 7;
  const isLast = rest === 0 ? low < 0x40 : rest === -1 && low >= 0x40;
  return isLast ? [low] : [low | 0x80, ...signed(rest)];
}
