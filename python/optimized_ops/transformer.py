"""transformer.py: an encoder like nn.TransformerEncoder with norm_first, made of torch.ops.optimized. Load the
operations before it computes."""
import torch
from torch import nn
from torch.nn import functional


def gelu(x):
    return functional.gelu(x, approximate="tanh")


# The vectors of a layer and their sizes, in d_model.
VECTORS = (("norm1", 1), ("shift1", 1), ("qkv", 3), ("out", 1), ("norm2", 1), ("shift2", 1), ("up", 4), ("down", 1))


class Layer(nn.Module):
    """Matrices are [inputs x outputs], the transpose of nn.Linear's. All else is one vector, fp32 also where
    the matrices are bf16."""

    def __init__(self, d_model, n_heads, whole, dtype):
        super().__init__()
        self.n_heads, self.whole = n_heads, whole
        self.vectors = nn.Parameter(torch.zeros(sum(size for _, size in VECTORS) * d_model))
        for name, inputs, outputs in (("qkv", 1, 3), ("out", 1, 1), ("up", 1, 4), ("down", 4, 1)):
            matrix = nn.init.xavier_uniform_(torch.empty(inputs * d_model, outputs * d_model))
            self.register_parameter(name, nn.Parameter(matrix.to(dtype)))
        parts = self.parts()
        nn.init.ones_(parts["norm1"].data), nn.init.ones_(parts["norm2"].data)

    def parts(self):
        """@return the vectors by their names"""
        width = self.vectors.shape[0] // sum(size for _, size in VECTORS)
        split = self.vectors.split([size * width for _, size in VECTORS])
        return {name: part for (name, _), part in zip(VECTORS, split)}

    def forward(self, x):
        if self.whole:
            return torch.ops.optimized.encoder_layer(x, self.vectors, self.qkv, self.out, self.up, self.down)
        return self.by_operations(x)

    def by_operations(self, x):
        """The same by the operations of 512, in fp32."""
        ops, v = torch.ops.optimized, self.parts()
        batch, seq, width = x.shape
        multiply = lambda x, name: ops.matmul(x, getattr(self, name)) + v[name]
        rows = x.reshape(-1, width)
        heads = multiply(ops.layernorm(rows, v["norm1"], v["shift1"]), "qkv")
        q, k, values = heads.view(batch, seq, 3, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        attention = ops.flash_attention(q, k, values).transpose(1, 2).reshape(-1, width)
        rows = rows + multiply(attention, "out")
        hidden = gelu(multiply(ops.layernorm(rows, v["norm2"], v["shift2"]), "up"))
        return (rows + multiply(hidden, "down")).view(x.shape)


class OptimizedTransformer(nn.Module):
    """Maps [batch x seq x d_model] to the same. whole: a layer is one operation, which only
    liboptimized_ops.so has, with heads of 64 channels; else it is many, of 512, in fp32."""

    def __init__(self, d_model=768, n_heads=12, n_layers=6, whole=True, dtype=torch.float32):
        super().__init__()
        if whole and d_model != 64 * n_heads:
            raise ValueError(f"{n_heads} heads of {d_model} channels, where each is to have 64")
        self.layers = nn.ModuleList(Layer(d_model, n_heads, whole, dtype) for _ in range(n_layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    @torch.no_grad()
    def copy_from(self, encoder):
        """Take the parameters of an nn.TransformerEncoder of the same sizes. @return self"""
        for own, layer in zip(self.layers, encoder.layers):
            attention, v = layer.self_attn, own.parts()
            own.qkv.copy_(attention.in_proj_weight.t())
            v["qkv"].copy_(attention.in_proj_bias)
            for name, linear in (("out", attention.out_proj), ("up", layer.linear1), ("down", layer.linear2)):
                getattr(own, name).copy_(linear.weight.t())
                v[name].copy_(linear.bias)
            for i, norm in ((1, layer.norm1), (2, layer.norm2)):
                v[f"norm{i}"].copy_(norm.weight)
                v[f"shift{i}"].copy_(norm.bias)
        return self


def torch_encoder(d_model=768, n_heads=12, n_layers=6):
    """@return the nn.TransformerEncoder that an OptimizedTransformer can be a copy of"""
    layer = nn.TransformerEncoderLayer(
        d_model, n_heads, 4 * d_model, dropout=0.0, activation=gelu, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, n_layers, enable_nested_tensor=False)
