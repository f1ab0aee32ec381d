/**
 * Prints uncaught errors of the project instead of ending the process: during editing, a mistake should cost
 * neither the threads in memory nor the server.
 */
export function keepRunning(problem: (error: unknown) => void): void {
  process.on('uncaughtException', problem)
  process.on('unhandledRejection', problem)
}
