import { createInterface } from 'node:readline/promises'
import { Canceled } from './terminal.ts'

/** Asks for a line on a terminal. Rejects with `Canceled` at Ctrl-C and at Ctrl-D. */
export async function askLine(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  const lines = createInterface({ input, output, terminal: true })
  try {
    return await Promise.race([
      lines.question(question),
      // Not every release of Node also rejects the question.
      new Promise<never>((_, reject) => lines.once('close', () => reject(new Canceled()))),
    ])
  } catch (error) {
    throw (error as Error).name === 'AbortError' ? new Canceled() : error
  } finally {
    lines.close()
  }
}
