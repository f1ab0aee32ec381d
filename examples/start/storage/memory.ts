import { memoryStorage } from 'agentwire'

/** A restart forgets all threads. */
export const openStorage = () => memoryStorage()
