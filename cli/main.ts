#!/usr/bin/env node
import { createInterface } from 'node:readline/promises'
import { run } from './run.ts'

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return await lines.question(question)
  } finally {
    lines.close()
  }
}

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
