export { chunksOf, readBounds } from '../log-layout.ts'
