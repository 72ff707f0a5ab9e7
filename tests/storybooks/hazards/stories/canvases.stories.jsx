import { useLayoutEffect, useRef } from 'react';

export default { title: 'Hazards/Canvases' };

const Canvas = ({ draw }) => {
  const canvas = useRef(null);
  useLayoutEffect(() => draw(canvas.current), [draw]);
  return <canvas ref={canvas} width="200" height="100" />;
};

const fill = (canvas) => {
  const flat = canvas.getContext('2d');
  flat.fillStyle = '#14a44d';
  flat.fillRect(20, 20, 120, 60);
  flat.strokeText('drawn by script', 20, 95);
};

const SHADERS = {
  VERTEX_SHADER: 'attribute vec2 at; void main() { gl_Position = vec4(at, 0.0, 1.0); }',
  FRAGMENT_SHADER:
    'void main() { gl_FragColor = vec4(20.0 / 255.0, 164.0 / 255.0, 77.0 / 255.0, 1.0); }',
};

/** A triangle, drawn once: its buffer may be thrown away after the frame it was drawn in. */
const triangle = (version) => (canvas) => {
  const gl = canvas.getContext(version, { antialias: false });
  if (!gl) throw new Error(`there is no ${version}`);
  const program = gl.createProgram();
  for (const [kind, source] of Object.entries(SHADERS)) {
    const shader = gl.createShader(gl[kind]);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, 0, 1]), gl.STATIC_DRAW);
  const at = gl.getAttribLocation(program, 'at');
  gl.enableVertexAttribArray(at);
  gl.vertexAttribPointer(at, 2, gl.FLOAT, false, 0, 0);
  gl.drawArrays(gl.TRIANGLES, 0, 3);
};

export const Flat = { render: () => <Canvas draw={fill} /> };

const first = triangle('webgl');
export const WebGl = { render: () => <Canvas draw={first} /> };

const second = triangle('webgl2');
export const WebGl2 = { render: () => <Canvas draw={second} /> };
