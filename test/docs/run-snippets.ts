/** Runs modules one after the other: those that the command line names. The process ends by itself once they hold nothing open. */
import { pathToFileURL } from 'node:url'

for (const path of process.argv.slice(2)) {
  try {
    await import(pathToFileURL(path).href)
    console.log(`ran ${path}`)
  } catch (error) {
    console.error(`failed ${path}`, error)
    process.exitCode = 1
  }
}
