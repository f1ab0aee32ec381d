#!/usr/bin/env node
import { run } from './run.ts'
import { askLine } from './terminal.ts'

const ask = (question: string): Promise<string> => askLine(question, process.stdin, process.stdout)

run(process.argv.slice(2), {
  env: process.env,
  out: (text) => console.log(text),
  problem: (text) => console.error(text),
  ...(process.stdin.isTTY && process.stdout.isTTY && { ask }),
}).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error)
    process.exit(1)
  },
)
