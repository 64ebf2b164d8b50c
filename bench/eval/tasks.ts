import { localTasks } from "./local-tasks.ts";
import { playgroundTasks } from "./playground-tasks.ts";
import type { Task } from "./task.ts";

/** All tasks, over a world in this folder. */
export function createTasks(folder: string): readonly Task[] {
  return [...localTasks(folder), ...playgroundTasks(folder)];
}
