#!/usr/bin/env node
import { keepCompiled } from "./keep-compiled.ts";
import { runProgram } from "./program.ts";

keepCompiled();
await runProgram(process.argv.slice(2));
