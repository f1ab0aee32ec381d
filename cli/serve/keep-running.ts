/**
 * Prints errors that nothing in the project has caught, instead of ending the process: while somebody edits, a mistake should cost
 * neither the threads in memory nor the server.
 */
export function keepRunning(problem: (error: unknown) => void): void {
  process.on('uncaughtException', problem)
  process.on('unhandledRejection', problem)
}
